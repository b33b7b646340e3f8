/* test_store.c - opening, committing, replay, snapshots, tokens.
 * SPDX-License-Identifier: Apache-2.0 */
#include "fixture.h"

#include "store/crc32c.h"
#include "store/sqlite/db.h"

#include <fcntl.h>
#include <inttypes.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static void checksum_is_castagnoli(void **state)
{
    (void)state;
    assert_int_equal(crc32c(0, "123456789", 9), 0xe3069283U);
    assert_int_equal(crc32c(0, "", 0), 0);
    uint32_t parts = crc32c(crc32c(0, "12345", 5), "6789", 4);
    assert_int_equal(parts, 0xe3069283U);
    char bytes[100];
    for (size_t len = 0; len < sizeof bytes; len++) { /* the instruction and the tables agree */
        bytes[len] = (char)(len * 37);
        assert_int_equal(crc32c(7, bytes, len), crc32c_by_tables(7, bytes, len));
    }
}

static void facts_survive_reopening(void **state)
{
    struct fixture *f = *state;
    fixture_open(f);
    assert_int_equal(store_commit_last_seq(f->store), 0);
    assert_ok(fixture_facts(f, 1, 1));
    assert_ok(fixture_facts(f, 2, 900));
    assert_int_equal(store_commit_last_seq(f->store), 900);
    fixture_close(f);
    fixture_open(f);
    assert_int_equal(store_commit_last_seq(f->store), 900);
    assert_int_equal(fixture_facts_check(f, 0), 900);
    assert_int_equal(fixture_facts_check(f, 899), 900);
    assert_int_equal(fixture_facts_check(f, 900), 900);
}

static void replay_crosses_pages(void **state)
{
    struct fixture *f = *state;
    fixture_open(f);
    for (uint64_t first = 1; first < 10000; first += 1000) {
        assert_ok(fixture_facts(f, first, first + 999));
    }
    assert_int_equal(fixture_facts_check(f, 0), 10000);
}

static enum err refuse_third(void *ctx, const struct store_fact *fact, struct error *e)
{
    int *calls = ctx;
    (*calls)++;
    return fact->seq == 3 ? fail(e, ERR_CORRUPT, "no") : ERR_OK;
}

static void a_failing_callback_stops_the_replay(void **state)
{
    struct fixture *f = *state;
    int calls = 0;
    fixture_open(f);
    assert_ok(fixture_facts(f, 1, 5));
    assert_int_equal(store_facts_after(f->store, 0, refuse_third, &calls, &f->e), ERR_CORRUPT);
    assert_int_equal(calls, 3);
    assert_ok(fixture_facts(f, 6, 6));
}

static void a_fact_out_of_order_is_refused_and_changes_nothing(void **state)
{
    struct fixture *f = *state;
    fixture_open(f);
    assert_ok(fixture_facts(f, 1, 3));
    assert_int_equal(fixture_facts(f, 5, 6), ERR_INTERNAL);
    assert_string_equal(f->e.text, "fact 5 given where 4 is next");
    assert_int_equal(fixture_facts(f, 3, 4), ERR_INTERNAL);
    assert_ok(fixture_facts(f, 4, 4));
    assert_int_equal(fixture_facts_check(f, 0), 4);
}

static void rows_delete(struct fixture *f, const char *sql)
{
    char path[128];
    sqlite3 *db;
    fixture_path(f, "weir.db", path);
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

static void a_gap_in_the_facts_is_named(void **state)
{
    struct fixture *f = *state;
    int calls = 0;
    fixture_open(f);
    assert_ok(fixture_facts(f, 1, 9));
    fixture_close(f);
    rows_delete(f, "DELETE FROM fact WHERE seq IN (4, 5)");
    fixture_open(f);
    assert_int_equal(store_facts_after(f->store, 3, refuse_third, &calls, &f->e), ERR_CORRUPT);
    assert_non_null(strstr(f->e.text, "facts 4 to 5 are missing"));
}

static void the_directory_is_private_and_complete(void **state)
{
    struct fixture *f = *state;
    struct stat status;
    char path[128];
    fixture_open(f);
    assert_ok(fixture_facts(f, 1, 1));
    static const struct {
        const char *name;
        mode_t mode;
    } entries[] = {{".", 0711},       {"log", 0700},         {"snapshot", 0700},
                   {"weir.db", 0600}, {"weir.db-wal", 0600}, {"lock", 0600}};
    for (size_t i = 0; i < sizeof entries / sizeof entries[0]; i++) {
        fixture_path(f, entries[i].name, path);
        assert_int_equal(stat(path, &status), 0);
        assert_int_equal(status.st_mode & 0777 & ~entries[i].mode, 0);
    }
}

static void a_second_server_is_refused_by_process_number(void **state)
{
    struct fixture *f = *state;
    struct store_options options = {.dir = f->dir};
    struct store *second = NULL;
    char expected[240];
    fixture_open(f);
    assert_int_equal(store_open(&options, &second, &f->e), ERR_CONFLICT);
    (void)snprintf(expected, sizeof expected, "data directory '%s' is in use by process %ld",
                   f->dir, (long)getpid());
    assert_string_equal(f->e.text, expected);
    assert_null(second);
    fixture_close(f);
    fixture_open(f); /* closing frees it */
}

/* Whether another process sees this one's lock on the database, as SQLite there would look. */
static bool database_locked(struct fixture *f)
{
    char path[128];
    fixture_path(f, "weir.db", path);
    pid_t child = fork();
    if (child == 0) {
        struct flock lock = {.l_type = F_WRLCK, .l_start = 0x40000002, .l_len = 510};
        int fd = open(path, O_RDWR | O_CLOEXEC);
        _exit(fcntl(fd, F_GETLK, &lock) == 0 && lock.l_type == F_RDLCK ? 7 : 1);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    return WEXITSTATUS(status) == 7;
}

static void readers_do_not_cost_the_writer_its_lock(void **state)
{
    struct fixture *f = *state;
    struct store_reader *reader;
    struct store *second = NULL;
    fixture_open(f);
    assert_ok(fixture_facts(f, 1, 1));
    assert_true(database_locked(f));
    assert_ok(store_reader_open(f->dir, &reader, &f->e));
    store_reader_close(reader);
    assert_int_equal(store_open(&(struct store_options){.dir = f->dir}, &second, &f->e),
                     ERR_CONFLICT);
    assert_ok(store_backup(f->dir, f->other, &f->e));
    assert_true(database_locked(f));
}

static void a_dead_server_leaves_no_lock(void **state)
{
    struct fixture *f = *state;
    pid_t child = fork();
    if (child == 0) {
        fixture_open(f);
        _exit(fixture_facts(f, 1, 1) == ERR_OK ? 7 : 1);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(WEXITSTATUS(status), 7);
    fixture_open(f);
    assert_int_equal(fixture_facts_check(f, 0), 1);
}

static void snapshot_put(struct fixture *f, uint64_t seq, const char *text)
{
    assert_ok(store_snapshot_write(f->dir, seq, str_of(text), &f->e));
    assert_ok(store_prune_snapshot_taken(f->store, seq, &f->e));
}

static void snapshot_expect(struct fixture *f, uint64_t seq, const char *text)
{
    struct arena arena;
    uint64_t found;
    struct str bytes;
    arena_init(&arena);
    enum err r = store_snapshot_load(f->store, UINT64_MAX, &arena, &found, &bytes, &f->e);
    while (r == ERR_CORRUPT) { /* what is damaged is named, and the one before it can be had */
        assert_non_null(strstr(f->e.text, store_snapshot_path(f->store, found, &arena)));
        r = store_snapshot_load(f->store, found, &arena, &found, &bytes, &f->e);
    }
    assert_ok(r);
    assert_int_equal(found, seq);
    assert_true(str_is(bytes, text));
    arena_done(&arena);
}

static void the_newest_whole_snapshot_is_loaded_and_two_are_kept(void **state)
{
    struct fixture *f = *state;
    fixture_open(f);
    snapshot_expect(f, 0, "");
    assert_ok(fixture_facts(f, 1, 50));
    snapshot_put(f, 10, "ten");
    snapshot_put(f, 20, "twenty");
    snapshot_put(f, 30, "thirty");
    assert_false(fixture_exists(f, "snapshot/10.snap"));
    assert_true(fixture_exists(f, "snapshot/20.snap"));
    snapshot_expect(f, 30, "thirty");
    fixture_flip(f, "snapshot/30.snap", 33);
    snapshot_expect(f, 20, "twenty");
    fixture_truncate(f, "snapshot/20.snap", 12);
    snapshot_expect(f, 0, "");
    assert_int_equal(store_prune_snapshot_taken(f->store, 40, &f->e), ERR_NOT_FOUND);
    assert_ok(store_snapshot_write(f->dir, 51, str_of("never stored"), &f->e));
    assert_int_equal(store_prune_snapshot_taken(f->store, 51, &f->e), ERR_CONFLICT);
    assert_false(fixture_exists(f, "snapshot/51.snap"));
}

static void a_snapshot_ahead_of_the_facts_is_set_aside(void **state)
{
    struct fixture *f = *state;
    fixture_open(f);
    assert_ok(fixture_facts(f, 1, 5));
    assert_ok(store_snapshot_write(f->dir, 4, str_of("four"), &f->e));
    assert_ok(store_snapshot_write(f->dir, 9, str_of("nine"), &f->e));
    snapshot_expect(f, 4, "four");
    fixture_close(f);
    fixture_open(f);
    assert_false(fixture_exists(f, "snapshot/9.snap"));
    assert_true(fixture_exists(f, "snapshot/9.snap.ahead"));
}

static struct store_token token_make(char mark, const char *id, int64_t created_ms)
{
    struct store_token token = {.created_ms = created_ms, .expires_ms = 99};
    memset(token.hash, mark, sizeof token.hash);
    (void)str_copy(token.id, sizeof token.id, id);
    (void)str_copy(token.scope, sizeof token.scope, "admin");
    (void)str_copy(token.name, sizeof token.name, "eve");
    return token;
}

static void token_collect(void *ctx, const struct store_token *token)
{
    char *text = ctx;
    size_t len = strlen(text);
    (void)snprintf(text + len, 100 - len, "%s/%s/%s/%c/%d/%d ", token->id, token->scope,
                   token->name, token->hash[31], (int)token->created_ms, (int)token->expires_ms);
}

static void tokens_are_put_replaced_and_revoked(void **state)
{
    struct fixture *f = *state;
    char text[100] = "";
    fixture_open(f);
    struct store_token tokens[] = {token_make('b', "t2", 2), token_make('a', "t1", 1)};
    struct store_batch batch = {.tokens = tokens, .token_count = 2};
    assert_ok(store_commit(f->store, &batch, &f->e));
    assert_ok(store_tokens(f->store, token_collect, text, &f->e));
    assert_string_equal(text, "t1/admin/eve/a/1/99 t2/admin/eve/b/2/99 ");
    tokens[0].revoked = true;
    tokens[1].expires_ms = 5;
    assert_ok(store_commit(f->store, &batch, &f->e));
    text[0] = '\0';
    assert_ok(store_tokens(f->store, token_collect, text, &f->e));
    assert_string_equal(text, "t1/admin/eve/a/1/5 ");
}

static void the_write_ahead_log_stays_bounded(void **state)
{
    struct fixture *f = *state;
    struct stat status;
    char path[128];
    fixture_open(f);
    fixture_path(f, "weir.db-wal", path);
    static char body[64 * 1024];
    memset(body, 'x', sizeof body);
    for (uint64_t seq = 1; seq <= 400; seq++) {
        struct store_fact fact = {.seq = seq, .body = {body, sizeof body}};
        struct store_batch batch = {.facts = &fact, .fact_count = 1};
        assert_ok(store_commit(f->store, &batch, &f->e));
        assert_ok(store_commit_tend(f->store, &f->e));
    }
    assert_int_equal(stat(path, &status), 0);
    assert_in_range(status.st_size, 1, STORE_WAL_BYTES + STORE_WAL_BYTES / 2);
    fixture_close(f);
    assert_int_not_equal(access(path, F_OK), 0);
}

static void open_refused(struct fixture *f, enum err code, const char *text)
{
    struct store_options options = {.dir = f->dir};
    assert_int_equal(store_open(&options, &f->store, &f->e), code);
    assert_null(f->store);
    if (strstr(f->e.text, text) == NULL) {
        assert_string_equal(f->e.text, text);
    }
}

static void a_foreign_file_is_recognised(void **state)
{
    struct fixture *f = *state;
    char path[128];
    assert_int_equal(mkdir(f->dir, 0700), 0);
    fixture_path(f, "weir.db", path);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs("these are not the pages you are looking for\n", file) >= 0);
    (void)fclose(file);
    open_refused(f, ERR_CORRUPT, "weir.db' is not a database of Weir");
    assert_int_equal(unlink(path), 0);
    rows_delete(f, "CREATE TABLE theirs (a); PRAGMA application_id = 66");
    open_refused(f, ERR_CORRUPT, "of another program (application id 0x00000042");
}

static void a_newer_schema_is_refused_with_both_versions(void **state)
{
    struct fixture *f = *state;
    fixture_open(f);
    fixture_close(f);
    rows_delete(f, "PRAGMA user_version = 9; UPDATE meta SET value = '0009_quotas' WHERE key = "
                   "'schema'");
    open_refused(f, ERR_CORRUPT, "has schema 9 (0009_quotas, weir ");
    char known[32];
    (void)snprintf(known, sizeof known, "knows up to %d:", store_schema_version());
    assert_non_null(strstr(f->e.text, known));
}

static void a_truncated_database_is_named(void **state)
{
    struct fixture *f = *state;
    fixture_open(f);
    for (uint64_t seq = 1; seq < 5000; seq += 1000) {
        assert_ok(fixture_facts(f, seq, seq + 999));
    }
    fixture_close(f);
    fixture_truncate(f, "weir.db", 12 * 4096);
    open_refused(f, ERR_CORRUPT, "weir.db");
}

static void names_of_directories_are_checked(void **state)
{
    struct fixture *f = *state;
    static char long_name[5000];
    memset(long_name, 'd', sizeof long_name - 1);
    struct store_options options = {.dir = long_name};
    assert_int_equal(store_open(&options, &f->store, &f->e), ERR_LIMIT);
    options.dir = "";
    assert_int_equal(store_open(&options, &f->store, &f->e), ERR_INVALID);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        store_test(checksum_is_castagnoli),
        store_test(facts_survive_reopening),
        store_test(replay_crosses_pages),
        store_test(a_failing_callback_stops_the_replay),
        store_test(a_fact_out_of_order_is_refused_and_changes_nothing),
        store_test(a_gap_in_the_facts_is_named),
        store_test(the_directory_is_private_and_complete),
        store_test(a_second_server_is_refused_by_process_number),
        store_test(readers_do_not_cost_the_writer_its_lock),
        store_test(a_dead_server_leaves_no_lock),
        store_test(the_newest_whole_snapshot_is_loaded_and_two_are_kept),
        store_test(a_snapshot_ahead_of_the_facts_is_set_aside),
        store_test(tokens_are_put_replaced_and_revoked),
        store_test(the_write_ahead_log_stays_bounded),
        store_test(a_foreign_file_is_recognised),
        store_test(a_newer_schema_is_refused_with_both_versions),
        store_test(a_truncated_database_is_named),
        store_test(names_of_directories_are_checked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
