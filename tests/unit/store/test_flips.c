/* test_flips.c - one byte of a data directory changes, in every kind of file in turn. Whatever that
 * changes in what would be read, store_check() finds. Nothing else than what was written is ever
 * given to a caller, and nothing aborts. A byte whose change nobody can see is no data, and does not
 * count. WEIR_FLIPS: how many changes that matter are tried for each kind of file.
 * SPDX-License-Identifier: Apache-2.0 */
#include "fixture.h"

#include "base/buf.h"
#include "base/mem.h"
#include "store/crc32c.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    FLIPS_DEFAULT = 10,
    TRIES_PER_FLIP = 40, /* bytes that are no data may come up in between */
    FACTS = 240,
    TASKS = 40,
    FILE_MAX = 16,
    TEXT_MAX = 4 << 20,
};

struct copy {
    char name[64];
    char *bytes;
    size_t len;
};

static struct copy files[FILE_MAX]; /* the directory as it was written */
static size_t file_count;
static uint64_t seed = 20261116;

static uint64_t random_next(void)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return seed;
}

/* ---- a directory with every kind of data ---- */

static void batch_put(struct fixture *f, uint64_t seq)
{
    static char json[400];
    char line[64];
    char body[200];
    const uint64_t task = 1 + seq % TASKS;
    memset(json, 'j', sizeof json);
    memset(body, 'b', sizeof body);
    (void)snprintf(json, sizeof json, "{\"id\":%" PRIu64 ",\"seq\":%" PRIu64 "}", task, seq);
    (void)snprintf(body, sizeof body, "fact %" PRIu64, seq);
    int len = snprintf(line, sizeof line, "line %010" PRIu64 " of task %04" PRIu64 "\n", seq, task);
    struct store_fact fact = {
        .seq = seq, .time_ms = (int64_t)seq * 10, .type = 7, .body = {body, sizeof body}};
    struct store_history history = {.task = task,
                                    .submitted_ms = 5,
                                    .ended_ms = 1000000,
                                    .state = 3,
                                    .pool = str_of("default"),
                                    .user = str_of("ada"),
                                    .project = str_of("p"),
                                    .name = str_of("name"),
                                    .json = {json, sizeof json}};
    struct store_attempt attempt = {
        .task = task, .attempt = (uint32_t)seq, .json = {json, sizeof json}};
    struct store_log log = {.task = task,
                            .attempt = 1,
                            .stream = 1,
                            .offset = seq / TASKS * (uint64_t)len,
                            .time_ms = (int64_t)seq,
                            .data = {line, (size_t)len}};
    struct store_token token = {.scope = "admin", .name = "ada", .created_ms = (int64_t)seq};
    memset(token.hash, (int)seq % 256, sizeof token.hash);
    (void)snprintf(token.id, sizeof token.id, "t%" PRIu64, seq);
    struct store_batch batch = {
        .facts = &fact,
        .fact_count = 1,
        .history = &history,
        .history_count = 1,
        .attempts = &attempt,
        .attempt_count = 1,
        .logs = &log,
        .log_count = 1,
        .tokens = &token,
        .token_count = seq % 20 == 0,
    };
    assert_ok(store_commit(f->store, &batch, &f->e));
}

static void snapshot_put(struct fixture *f, uint64_t seq)
{
    static char state[3000];
    memset(state, 's', sizeof state);
    assert_ok(store_snapshot_write(f->dir, seq, (struct str){state, sizeof state}, &f->e));
    assert_ok(store_prune_snapshot_taken(f->store, seq, &f->e));
}

/* A server that was closed (its data is in the database) or killed (half of it in the write-ahead
 * log). */
static void directory_make(struct fixture *f, bool killed)
{
    pid_t child = fork();
    if (child == 0) {
        fixture_open(f);
        for (uint64_t seq = 1; seq <= FACTS; seq++) {
            batch_put(f, seq);
            if (seq == 100 || seq == 160) {
                snapshot_put(f, seq);
            }
            if (killed && seq == FACTS / 2) {
                fixture_close(f);
                fixture_open(f);
            }
        }
        if (!killed) {
            fixture_close(f);
        }
        _exit(0);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

static void file_read(const struct fixture *f, const char *name)
{
    struct copy *copy = &files[file_count];
    char path[128];
    struct stat status;
    fixture_path(f, name, path);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return;
    }
    assert_int_equal(fstat(fd, &status), 0);
    (void)str_copy(copy->name, sizeof copy->name, name);
    copy->len = (size_t)status.st_size;
    copy->bytes = xmalloc(copy->len + 1);
    assert_int_equal(read(fd, copy->bytes, copy->len), copy->len);
    (void)close(fd);
    file_count += copy->len > 0;
}

static void directory_read(const struct fixture *f)
{
    static const char *const names[] = {
        "weir.db",           "weir.db-wal",       "weir.db-shm",
        "acknowledged",      "log/identity",      "log/00000001.seg",
        "snapshot/identity", "snapshot/100.snap", "snapshot/160.snap"};
    file_count = 0;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        file_read(f, names[i]);
    }
}

static void directory_free(void)
{
    for (size_t i = 0; i < file_count; i++) {
        free(files[i].bytes);
    }
}

/* Writes the directory as it was, except for one byte of file `which` (file_count: no byte). */
static void directory_write(struct fixture *f, size_t which, size_t at, char change)
{
    char path[128];
    for (size_t i = 0; i < file_count; i++) {
        fixture_path(f, files[i].name, path);
        int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
        assert_true(fd >= 0);
        assert_int_equal(write(fd, files[i].bytes, files[i].len), files[i].len);
        if (i == which) {
            char byte = (char)(files[i].bytes[at] ^ change);
            assert_int_equal(pwrite(fd, &byte, 1, (off_t)at), 1);
        }
        (void)close(fd);
    }
    if (file_count > 1 && strcmp(files[1].name, "weir.db-wal") != 0) {
        fixture_path(f, "weir.db-wal", path);
        (void)unlink(path);
    }
}

/* ---- everything that a server would read, one line for each thing ---- */

static void line_add(struct buf *out, const char *kind, uint64_t number, struct str bytes)
{
    buf_addf(out, "%s %" PRIu64 " %08" PRIx32 "\n", kind, number, crc32c(0, bytes.p, bytes.len));
}

static enum err fact_take(void *ctx, const struct store_fact *fact, struct error *e)
{
    (void)e;
    line_add(ctx, "fact", fact->seq + (uint64_t)fact->time_ms + fact->type, fact->body);
    return ERR_OK;
}

static void token_take(void *ctx, const struct store_token *token)
{
    line_add(ctx, "token", 0, (struct str){(const char *)token, sizeof *token});
}

static void history_take(void *ctx, const struct store_history *row)
{
    line_add(ctx, "history", row->task + (uint64_t)row->ended_ms + row->state, row->json);
}

static void attempt_take(void *ctx, const struct store_attempt *row)
{
    line_add(ctx, "attempt", row->task * 1000 + row->attempt, row->json);
}

static void log_take(void *ctx, const struct store_log_piece *piece)
{
    line_add(ctx, "output", piece->offset * 1000 + (uint64_t)piece->time_ms, piece->data);
}

static void reader_read(struct fixture *f, struct buf *out)
{
    struct store_reader *reader;
    struct arena arena;
    if (store_reader_open(f->dir, &reader, &f->e) != ERR_OK) {
        return;
    }
    arena_init(&arena);
    struct store_history_filter all = {.limit = 1000};
    struct store_history_filter some = {.limit = 1000, .user = "ada"};
    (void)!store_history_list(reader, &all, history_take, out, &f->e);
    (void)!store_history_list(reader, &some, history_take, out, &f->e);
    for (uint64_t task = 1; task <= TASKS; task++) {
        struct store_log_filter filter = {
            .task = task, .index = -1, .attempt = -1, .bytes_max = TEXT_MAX};
        struct str json;
        if (store_history_get(reader, task, &arena, &json, &f->e) == ERR_OK) {
            line_add(out, "json", task, json);
        }
        (void)!store_history_attempts(reader, task, attempt_take, out, &f->e);
        (void)!store_reader_logs(reader, &filter, &arena, log_take, out, &f->e);
    }
    (void)!store_reader_facts(reader, 0, FACTS, fact_take, out, &f->e);
    store_reader_close(reader);
    arena_done(&arena);
}

/* What a server replays. All facts, or a failure: fewer facts would be a state of the past. */
static void server_read(struct fixture *f, struct buf *out)
{
    struct store_options options = {.dir = f->dir, .facts_keep = 1};
    struct arena arena;
    struct str state;
    uint64_t seq = 0;
    uint64_t before = UINT64_MAX;
    if (store_open(&options, &f->store, &f->e) != ERR_OK) {
        buf_addf(out, "! %s\n", f->e.text);
        return;
    }
    arena_init(&arena);
    while (store_snapshot_load(f->store, before, &arena, &seq, &state, &f->e) == ERR_CORRUPT) {
        before = seq;
    }
    if (seq > 0) {
        line_add(out, "snapshot", 0, state);
    }
    arena_done(&arena);
    enum err r = store_facts_after(f->store, seq, fact_take, out, &f->e);
    buf_addf(out, r == ERR_OK ? "replayed to %" PRIu64 "\n" : "! not replayed\n",
             store_commit_last_seq(f->store));
    (void)!store_tokens(f->store, token_take, out, &f->e);
    reader_read(f, out);
    fixture_close(f);
}

/* ---- in a process of its own ---- */

struct outcome {
    bool found;  /* store_check() names something */
    char *lines; /* what was read */
};

static void finding_add(void *ctx, const char *line)
{
    buf_addf(ctx, "%s\n", line);
}

/* Writes 'f' or '-', and what was read. */
static _Noreturn void child_run(struct fixture *f, int out)
{
    static const struct store_check_fns fns = {.finding = finding_add};
    struct buf findings;
    struct buf lines;
    int quiet = open("/dev/null", O_WRONLY | O_CLOEXEC); /* each damage is logged */
    (void)dup2(quiet, STDERR_FILENO);
    buf_init(&findings, TEXT_MAX);
    buf_init(&lines, TEXT_MAX);
    enum err r = store_check(f->dir, &fns, &findings, &f->e);
    buf_add_str(&lines, r != ERR_OK || findings.len > 0 ? "f" : "-");
    server_read(f, &lines);
    for (size_t at = 0; at < lines.len;) {
        ssize_t n = write(out, buf_text(&lines) + at, lines.len - at);
        if (n <= 0) {
            _exit(1);
        }
        at += (size_t)n;
    }
    buf_done(&findings);
    buf_done(&lines);
    _exit(0);
}

static struct outcome child_outcome(struct fixture *f)
{
    int ends[2];
    int status;
    struct buf lines;
    char piece[65536];
    ssize_t n;
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    pid_t child = fork();
    if (child == 0) {
        child_run(f, ends[1]);
    }
    (void)close(ends[1]);
    buf_init(&lines, TEXT_MAX);
    while ((n = read(ends[0], piece, sizeof piece)) > 0) {
        buf_add(&lines, piece, (size_t)n);
    }
    (void)close(ends[0]);
    assert_int_equal(waitpid(child, &status, 0), child);
    if (status != 0 || lines.len == 0) {
        print_error("the process ended with status %d\n", status);
    }
    assert_int_equal(status, 0);
    char *text = buf_steal(&lines, &(size_t){0});
    struct outcome outcome = {.found = text[0] == 'f', .lines = xstrdup(text + 1)};
    free(text);
    return outcome;
}

/* ---- the comparison ---- */

/* Is every line that was read one of the lines that were written? Lines with '!' are failures. */
static void lines_true(const char *lines, const char *truth, const char *what)
{
    const char *from = truth; /* both are nearly in the same order */
    while (*lines != '\0') {
        const char *end = strchr(lines, '\n');
        char line[300];
        (void)snprintf(line, sizeof line, "%.*s\n", (int)(end - lines), lines);
        lines = end + 1;
        if (line[0] == '!') {
            continue;
        }
        const char *hit = strstr(from, line);
        hit = hit != NULL ? hit : strstr(truth, line);
        if (hit == NULL) {
            print_error("%s: read, and never written: %s", what, line);
        }
        assert_non_null(hit);
        from = hit;
    }
}

/* Returns whether the change mattered. */
static bool flip_try(struct fixture *f, size_t which, const char *truth)
{
    const size_t at = random_next() % files[which].len;
    const char change = (char)(1 + random_next() % 255);
    char what[160];
    (void)snprintf(what, sizeof what, "%.60s at byte %zu, changed by 0x%02x", files[which].name, at,
                   (unsigned char)change);
    directory_write(f, which, at, change);
    struct outcome outcome = child_outcome(f);
    const bool same = strcmp(outcome.lines, truth) == 0;
    lines_true(outcome.lines, truth, what);
    if (!same && !outcome.found) {
        print_error("%s: not found, and %.200s\n", what,
                    outcome.lines[0] == '!' ? outcome.lines : "something is missing");
    }
    assert_true(same || outcome.found);
    free(outcome.lines);
    return outcome.found;
}

static void flips_run(struct fixture *f, bool killed)
{
    const char *wanted = getenv("WEIR_FLIPS");
    const long flips = wanted != NULL ? strtol(wanted, NULL, 10) : FLIPS_DEFAULT;
    directory_make(f, killed);
    directory_read(f);
    assert_true(file_count >= (killed ? 8 : 7));
    directory_write(f, file_count, 0, 0);
    struct outcome whole = child_outcome(f);
    assert_false(whole.found);
    assert_non_null(strstr(whole.lines, "replayed to 240\n"));
    for (size_t i = 0; i < file_count; i++) {
        const bool no_data = strcmp(files[i].name, "weir.db-shm") == 0; /* SQLite makes it anew */
        long mattered = 0;
        long tries = 0;
        for (; mattered < flips && tries < flips * TRIES_PER_FLIP; tries++) {
            mattered += flip_try(f, i, whole.lines);
            if (no_data && tries == flips) {
                break;
            }
        }
        print_message("# %s, %s: %ld of %ld changed bytes mattered, all found\n", files[i].name,
                      killed ? "killed" : "closed", mattered, tries);
        assert_true(mattered == (no_data ? 0 : flips));
    }
    free(whole.lines);
    directory_free();
}

static void every_changed_byte_of_a_closed_directory_is_found(void **state)
{
    flips_run(*state, false);
}

static void every_changed_byte_of_a_killed_directory_is_found(void **state)
{
    flips_run(*state, true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        store_test(every_changed_byte_of_a_closed_directory_is_found),
        store_test(every_changed_byte_of_a_killed_directory_is_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
