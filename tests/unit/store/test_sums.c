/* test_sums.c - checksums of rows, the chain of facts, and what was acknowledged. Each test damages one
 * thing. test_flips.c damages everything by chance. SPDX-License-Identifier: Apache-2.0 */
#include "fixture.h"

#include "base/mem.h"
#include "store/sqlite/migrations.h"

#include <fcntl.h>
#include <inttypes.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static void sql_run(struct fixture *f, const char *sql)
{
    char path[128];
    sqlite3 *db;
    fixture_path(f, "weir.db", path);
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

static void nothing_found(struct fixture *f)
{
    auto_free(freep) char *findings = fixture_findings(f, f->dir);
    assert_string_equal(findings, "");
}

static void found(struct fixture *f, const char *text)
{
    auto_free(freep) char *findings = fixture_findings(f, f->dir);
    if (strstr(findings, text) == NULL) {
        assert_string_equal(findings, text);
    }
}

/* The store does not open, or does not replay, and says `text`. */
static void refused(struct fixture *f, const char *text)
{
    struct store_options options = {.dir = f->dir, .facts_keep = 1};
    assert_int_equal(store_open(&options, &f->store, &f->e), ERR_CORRUPT);
    if (strstr(f->e.text, text) == NULL) {
        assert_string_equal(f->e.text, text);
    }
}

static enum err fact_ignore(void *ctx, const struct store_fact *fact, struct error *e)
{
    (void)ctx;
    (void)fact;
    (void)e;
    return ERR_OK;
}

static void history_put(struct fixture *f, uint64_t task)
{
    struct store_history row = {
        .task = task, .ended_ms = 100, .user = str_of("ada"), .json = str_of("{\"exit\":0}")};
    struct store_batch batch = {.history = &row, .history_count = 1};
    assert_ok(store_commit(f->store, &batch, &f->e));
}

static void history_count(void *ctx, const struct store_history *row)
{
    (void)row;
    (*(int *)ctx)++;
}

/* A database as Weir made it before there were checksums. */
static void an_older_database_gets_its_checksums(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(mkdir(f->dir, 0700), 0);
    for (int i = 0; i < 3; i++) {
        sql_run(f, migrations[i].sql);
    }
    sql_run(f, "PRAGMA user_version = 3;"
               "INSERT INTO meta VALUES ('schema', '0003_attempts'), ('written_by', 'weir 0.1.0');"
               "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 50) "
               "INSERT INTO fact SELECT i, i * 10, i % 7, CAST('fact ' || i AS BLOB) FROM n;"
               "INSERT INTO history VALUES (7, 1, 2, 3, 0, 'p', 'ada', '', '', x'7b7d');"
               "INSERT INTO attempt VALUES (7, 0, 1, x'7b7d');"
               "INSERT INTO token (hash, id, scope, name, created_ms, expires_ms) VALUES "
               "(zeroblob(32), 't', 'admin', 'ada', 1, 0);");
    fixture_open(f);
    assert_int_equal(fixture_facts_check(f, 0), 50);
    assert_ok(fixture_facts(f, 51, 60));
    fixture_close(f);
    nothing_found(f);
    sql_run(f, "UPDATE fact SET body = x'00' WHERE seq = 20");
    found(f, "weir.db: fact 20 is damaged (the checksum differs)\n");
    sql_run(f, "UPDATE attempt SET json = x'00'");
    found(f, "weir.db: attempt 7.0:1 is damaged");
}

static void a_damaged_fact_is_refused_with_its_number_and_the_way_back(void **state)
{
    struct fixture *f = *state;
    fixture_open(f);
    assert_ok(fixture_facts(f, 1, 20));
    fixture_close(f);
    sql_run(f, "UPDATE fact SET time_ms = time_ms + 1 WHERE seq = 12");
    fixture_open(f); /* only the last fact is read here */
    assert_int_equal(store_facts_after(f->store, 0, fact_ignore, NULL, &f->e), ERR_CORRUPT);
    assert_non_null(strstr(f->e.text, "fact 12 in '"));
    assert_non_null(strstr(f->e.text, "weir db restore"));
    assert_int_equal(store_facts_after(f->store, 12, fact_ignore, NULL, &f->e), ERR_CORRUPT);
    assert_ok(store_facts_after(f->store, 13, fact_ignore, NULL, &f->e));
    fixture_close(f);
    sql_run(f, "UPDATE fact SET type = 5 WHERE seq = 20");
    refused(f, "fact 20 in '");
}

/* Each row is whole, and the last is of another history. */
static void a_foreign_fact_breaks_the_chain(void **state)
{
    struct fixture *f = *state;
    struct store_fact other = {.seq = 9, .type = 1, .body = str_of("another")};
    struct store_batch batch = {.facts = &other, .fact_count = 1};
    fixture_open(f);
    assert_ok(fixture_facts(f, 1, 8));
    assert_ok(store_backup(f->dir, f->other, &f->e));
    assert_ok(store_commit(f->store, &batch, &f->e));
    assert_ok(fixture_facts(f, 10, 10));
    fixture_close(f);
    char ours[sizeof f->dir];
    (void)str_copy(ours, sizeof ours, f->dir);
    (void)str_copy(f->dir, sizeof f->dir, f->other);
    fixture_open(f);
    assert_ok(fixture_facts(f, 9, 10));
    fixture_close(f);
    (void)str_copy(f->dir, sizeof f->dir, ours);
    char sql[256];
    (void)snprintf(sql, sizeof sql,
                   "ATTACH '%s/weir.db' AS other; DELETE FROM fact WHERE seq = 10; "
                   "INSERT INTO fact SELECT * FROM other.fact WHERE seq = 10",
                   f->other);
    sql_run(f, sql);
    found(f, "weir.db: fact 10 does not follow fact 9\n");
}

static void a_changed_row_of_the_history_is_never_served(void **state)
{
    struct fixture *f = *state;
    struct store_reader *reader;
    struct arena arena;
    struct str json;
    int count = 0;
    fixture_open(f);
    history_put(f, 1);
    history_put(f, 2);
    fixture_close(f);
    sql_run(f, "UPDATE history SET json = CAST('{\"exit\":1}' AS BLOB) WHERE task = 2");
    assert_ok(store_reader_open(f->dir, &reader, &f->e));
    arena_init(&arena);
    assert_ok(store_history_get(reader, 1, &arena, &json, &f->e));
    assert_int_equal(store_history_get(reader, 2, &arena, &json, &f->e), ERR_CORRUPT);
    assert_non_null(strstr(f->e.text, "the history of task 2 in '"));
    struct store_history_filter all = {.limit = 10};
    assert_ok(store_history_list(reader, &all, history_count, &count, &f->e));
    assert_int_equal(count, 1);
    arena_done(&arena);
    store_reader_close(reader);
    found(f, "weir.db: the row of ended task 2 is damaged (the checksum differs)\n");
}

/* Retention must not act on what a damaged row says. */
static void a_damaged_row_removes_nothing(void **state)
{
    struct fixture *f = *state;
    bool more;
    fixture_open(f);
    assert_ok(fixture_log(f, 1, 0, "kept"));
    history_put(f, 1);
    fixture_close(f);
    sql_run(f,
            "UPDATE history SET ended_ms = -100000; UPDATE log_segment SET chunks = 0, bytes = 16");
    fixture_open(f);
    assert_ok(store_prune(f->store, 1050, &more, &f->e));
    assert_ok(fixture_log(f, 2, 0, "next")); /* goes to a new segment */
    auto_free(freep) char *kept = fixture_log_text(f, 1);
    assert_string_equal(kept, "kept");
    assert_true(fixture_exists(f, "log/00000002.seg"));
    fixture_close(f);
    fixture_open(f);
    assert_true(fixture_exists(f, "log/00000001.seg"));
    found(f, "the row of log segment 1 is damaged");
}

/* Leaves a directory as a killed server does: the facts are in the write-ahead log. */
static void killed_make(struct fixture *f)
{
    pid_t child = fork();
    if (child == 0) {
        fixture_open(f);
        for (uint64_t seq = 1; seq <= 40; seq++) {
            assert_ok(fixture_facts(f, seq, seq));
        }
        for (uint64_t i = 0; i < 10; i++) { /* these batches have output and no fact */
            assert_ok(fixture_log(f, 1, i * 4, "line"));
        }
        _exit(0);
    }
    assert_int_equal(waitpid(child, NULL, 0), child);
}

static long file_size(struct fixture *f, const char *name)
{
    char path[128];
    struct stat status;
    fixture_path(f, name, path);
    assert_int_equal(stat(path, &status), 0);
    return (long)status.st_size;
}

static void a_whole_write_ahead_log_is_taken(void **state)
{
    struct fixture *f = *state;
    killed_make(f);
    nothing_found(f);
    nothing_found(f); /* the check leaves the write-ahead log as it is */
    assert_true(file_size(f, "weir.db-wal") > 4096);
    fixture_open(f);
    assert_int_equal(fixture_facts_check(f, 0), 40);
    fixture_close(f);
    nothing_found(f);
}

static void a_cut_write_ahead_log_is_refused(void **state)
{
    struct fixture *f = *state;
    killed_make(f);
    long size = file_size(f, "weir.db-wal");
    fixture_truncate(f, "weir.db-wal", size - 4096);
    found(f, "weir.db-wal' is damaged behind byte ");
    refused(f, "weir.db-wal' is damaged behind byte ");
    assert_non_null(strstr(f->e.text, "weir db adopt"));
    fixture_truncate(f, "weir.db-wal", size / 2);
    found(f, "/weir.db' ends with fact ");
    fixture_flip(f, "weir.db-wal", 9);
    refused(f, "the head of '");
    fixture_truncate(f, "weir.db-wal", 0);
    refused(f, "does not belong to weir.db"); /* the identity was in the write-ahead log too */
    uint64_t seq;
    assert_ok(store_identity_adopt(f->dir, &seq, &f->e));
    fixture_open(f);
    assert_int_equal(store_commit_last_seq(f->store), 0);
}

/* Somebody puts the database of yesterday into the directory of today. */
static void a_database_of_another_time_is_refused(void **state)
{
    struct fixture *f = *state;
    char old[256];
    fixture_open(f);
    assert_ok(fixture_facts(f, 1, 10));
    assert_ok(store_backup(f->dir, f->other, &f->e));
    assert_ok(fixture_facts(f, 11, 20));
    fixture_close(f);
    char path[128];
    fixture_path(f, "weir.db", path);
    (void)snprintf(old, sizeof old, "%s/weir.db", f->other);
    assert_int_equal(rename(old, path), 0);
    refused(f, "ends with fact 10, and 20 was acknowledged");
    /* As many facts, and other facts. */
    fixture_path(f, "acknowledged", path);
    char away[140];
    (void)snprintf(away, sizeof away, "%s.kept", path);
    assert_int_equal(rename(path, away), 0);
    fixture_open(f);
    struct store_fact other = {.seq = 11, .type = 3, .body = str_of("another day")};
    struct store_batch batch = {.facts = &other, .fact_count = 1};
    assert_ok(store_commit(f->store, &batch, &f->e));
    for (uint64_t seq = 12; seq <= 30; seq++) {
        assert_ok(fixture_facts(f, seq, seq));
    }
    fixture_close(f);
    assert_int_equal(rename(away, path), 0);
    refused(f, "fact 20 in '");
    assert_non_null(strstr(f->e.text, "is not the one that was acknowledged"));
}

static void a_snapshot_that_the_database_does_not_name_is_passed_over(void **state)
{
    struct fixture *f = *state;
    struct arena arena;
    struct str bytes;
    uint64_t seq;
    fixture_open(f);
    assert_ok(fixture_facts(f, 1, 10));
    assert_ok(store_snapshot_write(f->dir, 5, str_of("state"), &f->e));
    assert_ok(store_prune_snapshot_taken(f->store, 5, &f->e));
    assert_ok(store_snapshot_write(f->dir, 5, str_of("other"), &f->e)); /* whole, and not ours */
    arena_init(&arena);
    assert_int_equal(store_snapshot_load(f->store, UINT64_MAX, &arena, &seq, &bytes, &f->e),
                     ERR_CORRUPT);
    assert_non_null(strstr(f->e.text, "is not the snapshot of fact 5 that weir.db names"));
    arena_done(&arena);
    found(f, "is not the snapshot of fact 5 that weir.db names");
}

static void a_changed_schema_is_found(void **state)
{
    struct fixture *f = *state;
    fixture_open(f);
    fixture_close(f);
    sql_run(f, "CREATE INDEX more ON history (kind)");
    found(f, "table meta or the schema of '");
    sql_run(f, "DROP INDEX more");
    nothing_found(f);
    sql_run(f, "PRAGMA user_version = 2");
    found(f, "its head says schema 2, its table meta '0005_usage'");
}

/* ---- files that are harmed while the store is open ---- */

static void a_deleted_file_refuses_commits_until_it_is_back(void **state)
{
    struct fixture *f = *state;
    static const char *const files[] = {"weir.db", "weir.db-wal", "weir.db-shm"};
    uint64_t last = 0;
    fixture_open(f);
    for (size_t i = 0; i < 3; i++) {
        char path[128];
        char aside[136];
        fixture_path(f, files[i], path);
        (void)snprintf(aside, sizeof aside, "%s.aside", path);
        last++;
        assert_ok(fixture_step(f, last));
        assert_int_equal(rename(path, aside), 0);
        assert_int_equal(fixture_step(f, last + 1), ERR_IO);
        assert_non_null(strstr(f->e.text, "was deleted or replaced"));
        assert_int_equal(rename(aside, path), 0);
    }
    assert_ok(fixture_step(f, last + 1));
    fixture_close(f);
    fixture_open(f);
    assert_int_equal(fixture_facts_check(f, 0), last + 1);
    fixture_steps_check(f, f->dir, last + 1);
}

static void after_a_cut_nothing_is_acknowledged(void **state)
{
    struct fixture *f = *state;
    fixture_open(f);
    for (uint64_t seq = 1; seq <= 20; seq++) {
        assert_ok(fixture_step(f, seq));
    }
    fixture_truncate(f, "weir.db-wal", 0);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(fixture_step(f, 21), ERR_CORRUPT);
        assert_non_null(strstr(f->e.text, "weir.db-wal' was cut"));
    }
}

/* Another process empties the write-ahead log by right, as `weir db check` does. */
static void a_log_that_begins_anew_is_not_cut(void **state)
{
    struct fixture *f = *state;
    fixture_open(f);
    for (uint64_t seq = 1; seq <= 20; seq++) {
        assert_ok(fixture_step(f, seq));
    }
    pid_t child = fork();
    if (child == 0) {
        sql_run(f, "PRAGMA wal_checkpoint(TRUNCATE)");
        _exit(0);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    for (uint64_t seq = 21; seq <= 60; seq++) {
        assert_ok(fixture_step(f, seq));
    }
    fixture_steps_check(f, f->dir, 60);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        store_test(a_deleted_file_refuses_commits_until_it_is_back),
        store_test(after_a_cut_nothing_is_acknowledged),
        store_test(a_log_that_begins_anew_is_not_cut),
        store_test(an_older_database_gets_its_checksums),
        store_test(a_damaged_fact_is_refused_with_its_number_and_the_way_back),
        store_test(a_foreign_fact_breaks_the_chain),
        store_test(a_changed_row_of_the_history_is_never_served),
        store_test(a_damaged_row_removes_nothing),
        store_test(a_whole_write_ahead_log_is_taken),
        store_test(a_cut_write_ahead_log_is_refused),
        store_test(a_database_of_another_time_is_refused),
        store_test(a_snapshot_that_the_database_does_not_name_is_passed_over),
        store_test(a_changed_schema_is_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
