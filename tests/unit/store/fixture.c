/* fixture.c - see fixture.h. SPDX-License-Identifier: Apache-2.0 */
#include "fixture.h"

#include "base/buf.h"
#include "base/mem.h"

#include <fcntl.h>
#include <ftw.h>
#include <inttypes.h>
#include <sys/stat.h>
#include <unistd.h>

enum { TEXT_MAX = 1 << 20, FACT_BATCH_MAX = 1000 };

int fixture_set_up(void **state)
{
    struct fixture *f = xcalloc(1, sizeof *f);
    /* Uses a directory in memory if there is one. Thousands of flushes would take minutes on a
     * busy disk, and no test depends on what a flush does below the kernel. */
    char memory[] = "/dev/shm/weir-store-XXXXXX";
    char disk[] = "/tmp/weir-store-XXXXXX";
    const char *top = mkdtemp(memory) != NULL ? memory : mkdtemp(disk);
    if (top == NULL) {
        return -1;
    }
    (void)snprintf(f->dir, sizeof f->dir, "%s/data", top);
    (void)snprintf(f->other, sizeof f->other, "%s/other", top);
    *state = f;
    return 0;
}

static int entry_remove(const char *path, const struct stat *status, int type, struct FTW *walk)
{
    (void)status;
    (void)type;
    (void)walk;
    return remove(path);
}

int fixture_tear_down(void **state)
{
    struct fixture *f = *state;
    fixture_close(f);
    f->dir[strlen(f->dir) - strlen("/data")] = '\0';
    int r = nftw(f->dir, entry_remove, 16, FTW_DEPTH | FTW_PHYS);
    free(f);
    return r;
}

void fixture_open(struct fixture *f)
{
    struct store_options options = {.dir = f->dir, .facts_keep = 1, .history_keep_ms = 1000};
    f->e.text[0] = '\0';
    enum err r = store_open(&options, &f->store, &f->e);
    assert_string_equal(f->e.text, "");
    assert_ok(r);
}

void fixture_close(struct fixture *f)
{
    store_close(f->store);
    f->store = NULL;
}

enum err fixture_facts(struct fixture *f, uint64_t first, uint64_t last)
{
    static char bodies[FACT_BATCH_MAX][32];
    static struct store_fact facts[FACT_BATCH_MAX];
    size_t count = 0;
    for (uint64_t seq = first; seq <= last; seq++, count++) {
        assert_in_range(count, 0, FACT_BATCH_MAX - 1);
        int len = snprintf(bodies[count], sizeof bodies[count], "fact %" PRIu64, seq);
        facts[count] = (struct store_fact){.seq = seq,
                                           .time_ms = (int64_t)seq * 10,
                                           .type = (uint32_t)seq % 7,
                                           .body = {bodies[count], (size_t)len}};
    }
    struct store_batch batch = {.facts = facts, .fact_count = count};
    return store_commit(f->store, &batch, &f->e);
}

static enum err fact_check(void *ctx, const struct store_fact *fact, struct error *e)
{
    (void)e;
    uint64_t *last = ctx;
    char body[32];
    (void)snprintf(body, sizeof body, "fact %" PRIu64, fact->seq);
    assert_true(str_is(fact->body, body));
    assert_int_equal(fact->time_ms, fact->seq * 10);
    assert_int_equal(fact->type, fact->seq % 7);
    assert_int_equal(fact->seq, *last + 1);
    *last = fact->seq;
    return ERR_OK;
}

uint64_t fixture_facts_check(struct fixture *f, uint64_t after)
{
    uint64_t last = after;
    assert_ok(store_facts_after(f->store, after, fact_check, &last, &f->e));
    return last;
}

enum { LINE_LEN = 12 };

static void line_of(uint64_t number, char out[LINE_LEN + 1])
{
    (void)snprintf(out, LINE_LEN + 1, "%011" PRIu64 "\n", number);
}

enum err fixture_step(struct fixture *f, uint64_t seq)
{
    char body[32];
    char line[LINE_LEN + 1];
    int len = snprintf(body, sizeof body, "fact %" PRIu64, seq);
    line_of(seq, line);
    struct store_fact fact = {.seq = seq,
                              .time_ms = (int64_t)seq * 10,
                              .type = (uint32_t)seq % 7,
                              .body = {body, (size_t)len}};
    struct store_log log = {.task = 1,
                            .attempt = 1,
                            .stream = 1,
                            .offset = (seq - 1) * LINE_LEN,
                            .data = {line, LINE_LEN}};
    struct store_batch batch = {.facts = &fact, .fact_count = 1, .logs = &log, .log_count = 1};
    return store_commit(f->store, &batch, &f->e);
}

static void line_check(void *ctx, const struct store_log_piece *piece)
{
    uint64_t *last = ctx;
    char line[LINE_LEN + 1];
    line_of(*last + 1, line);
    assert_int_equal(piece->offset, *last * LINE_LEN);
    assert_true(str_is(piece->data, line));
    (*last)++;
}

void fixture_steps_check(struct fixture *f, const char *dir, uint64_t last)
{
    struct store_reader *reader;
    struct arena arena;
    uint64_t found = 0;
    arena_init(&arena);
    assert_ok(store_reader_open(dir, &reader, &f->e));
    struct store_log_filter filter = {.task = 1, .index = -1, .attempt = -1, .bytes_max = SIZE_MAX};
    assert_ok(store_reader_logs(reader, &filter, &arena, line_check, &found, &f->e));
    assert_int_equal(found, last);
    store_reader_close(reader);
    arena_done(&arena);
}

enum err fixture_log(struct fixture *f, uint64_t task, uint64_t offset, const char *text)
{
    struct store_log log = {.task = task,
                            .attempt = 1,
                            .stream = 1,
                            .offset = offset,
                            .time_ms = 5,
                            .data = str_of(text)};
    struct store_batch batch = {.logs = &log, .log_count = 1};
    return store_commit(f->store, &batch, &f->e);
}

static void piece_add(void *ctx, const struct store_log_piece *piece)
{
    struct buf *text = ctx;
    if (text->len > 0) {
        buf_add_char(text, '|');
    }
    buf_add(text, piece->data.p, piece->data.len);
}

char *fixture_log_text(struct fixture *f, uint64_t task)
{
    struct store_reader *reader;
    struct arena arena;
    struct buf text;
    arena_init(&arena);
    buf_init(&text, TEXT_MAX);
    assert_ok(store_reader_open(f->dir, &reader, &f->e));
    struct store_log_filter filter = {
        .task = task, .index = -1, .attempt = -1, .bytes_max = TEXT_MAX};
    assert_ok(store_reader_logs(reader, &filter, &arena, piece_add, &text, &f->e));
    store_reader_close(reader);
    arena_done(&arena);
    return text.len > 0 ? buf_steal(&text, &(size_t){0}) : xstrdup("");
}

static void finding_add(void *ctx, const char *line)
{
    buf_addf(ctx, "%s\n", line);
}

char *fixture_findings(struct fixture *f, const char *dir)
{
    struct buf text;
    buf_init(&text, TEXT_MAX);
    f->e.text[0] = '\0';
    static const struct store_check_fns fns = {.finding = finding_add};
    enum err r = store_check(dir, &fns, &text, &f->e);
    assert_string_equal(r == ERR_OK ? "" : f->e.text, "");
    assert_ok(r);
    return text.len > 0 ? buf_steal(&text, &(size_t){0}) : xstrdup("");
}

void fixture_path(const struct fixture *f, const char *name, char out[128])
{
    (void)snprintf(out, 128, "%s/%s", f->dir, name);
}

void fixture_truncate(const struct fixture *f, const char *name, long size)
{
    char path[128];
    fixture_path(f, name, path);
    assert_int_equal(truncate(path, size), 0);
}

void fixture_flip(const struct fixture *f, const char *name, long at)
{
    char path[128];
    char byte;
    fixture_path(f, name, path);
    int fd = open(path, O_RDWR | O_CLOEXEC);
    assert_true(fd >= 0);
    assert_int_equal(pread(fd, &byte, 1, at), 1);
    byte = (char)(byte ^ 0x40);
    assert_int_equal(pwrite(fd, &byte, 1, at), 1);
    (void)close(fd);
}

bool fixture_exists(const struct fixture *f, const char *name)
{
    char path[128];
    fixture_path(f, name, path);
    return access(path, F_OK) == 0;
}
