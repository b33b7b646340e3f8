/* test_admin.c - backup, restore and check, also beside a writing server.
 * SPDX-License-Identifier: Apache-2.0 */
#include "fixture.h"

#include "base/mem.h"
#include "store/datadir.h"
#include "store/sqlite/migrations.h"

#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static void nothing_found(struct fixture *f, const char *dir)
{
    auto_free(freep) char *findings = fixture_findings(f, dir);
    assert_string_equal(findings, "");
}

static void found(struct fixture *f, const char *text)
{
    auto_free(freep) char *findings = fixture_findings(f, f->dir);
    if (strstr(findings, text) == NULL) {
        assert_string_equal(findings, text);
    }
}

static void steps(struct fixture *f, uint64_t first, uint64_t last)
{
    for (uint64_t seq = first; seq <= last; seq++) {
        assert_ok(fixture_step(f, seq));
    }
}

static void sql_run(struct fixture *f, const char *sql)
{
    char path[128];
    sqlite3 *db;
    fixture_path(f, "weir.db", path);
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

static void snapshot_put(struct fixture *f, uint64_t seq)
{
    assert_ok(store_snapshot_write(f->dir, seq, str_of("state"), &f->e));
    assert_ok(store_prune_snapshot_taken(f->store, seq, &f->e));
}

static void a_backup_restores_to_the_same_state(void **state)
{
    struct fixture *f = *state;
    struct arena arena;
    struct str bytes;
    uint64_t seq;
    fixture_open(f);
    steps(f, 1, 50);
    snapshot_put(f, 30);
    assert_ok(store_backup(f->dir, f->other, &f->e));
    steps(f, 51, 60); /* the server goes on */
    fixture_close(f);
    nothing_found(f, f->other);
    fixture_steps_check(f, f->other, 50);
    char restored[80];
    (void)snprintf(restored, sizeof restored, "%s-2", f->other);
    struct store_restored what;
    assert_ok(store_backup_restore(f->other, restored, NULL, &what, &f->e));
    assert_false(what.damaged);
    nothing_found(f, restored);
    (void)str_copy(f->dir, sizeof f->dir, restored);
    fixture_open(f);
    assert_int_equal(fixture_facts_check(f, 0), 50);
    arena_init(&arena);
    assert_ok(store_snapshot_load(f->store, UINT64_MAX, &arena, &seq, &bytes, &f->e));
    assert_int_equal(seq, 30);
    arena_done(&arena);
    steps(f, 51, 55);
    fixture_steps_check(f, f->dir, 55);
    fixture_close(f);
    (void)snprintf(f->dir, sizeof f->dir, "%.*s/data", (int)(strlen(f->other) - 6), f->other);
}

static void a_backup_refuses_what_exists(void **state)
{
    struct fixture *f = *state;
    char partial[80];
    fixture_open(f);
    steps(f, 1, 2);
    assert_int_equal(mkdir(f->other, 0700), 0);
    assert_int_equal(store_backup(f->dir, f->other, &f->e), ERR_CONFLICT);
    assert_non_null(strstr(f->e.text, "exists already"));
    assert_int_equal(rmdir(f->other), 0);
    (void)snprintf(partial, sizeof partial, "%s.partial", f->other);
    assert_int_equal(mkdir(partial, 0700), 0);
    assert_int_equal(store_backup(f->dir, f->other, &f->e), ERR_CONFLICT);
    assert_non_null(strstr(f->e.text, "left from an interrupted backup"));
    assert_int_equal(rmdir(partial), 0);
    assert_int_equal(store_backup(f->other, partial, &f->e), ERR_NOT_FOUND);
    assert_ok(store_backup(f->dir, f->other, &f->e));
}

static void a_restore_refuses_a_directory_in_use(void **state)
{
    struct fixture *f = *state;
    fixture_open(f);
    steps(f, 1, 3);
    assert_ok(store_backup(f->dir, f->other, &f->e));
    struct store_restored what;
    assert_int_equal(store_backup_restore(f->other, f->dir, NULL, &what, &f->e), ERR_CONFLICT);
    assert_non_null(strstr(f->e.text, "is not empty"));
    assert_int_equal(fixture_facts_check(f, 0), 3);
}

static void a_failed_restore_leaves_nothing(void **state)
{
    struct fixture *f = *state;
    char target[80];
    fixture_open(f);
    steps(f, 1, 3);
    fixture_close(f);
    char path[128];
    fixture_path(f, "log/00000001.seg", path);
    assert_int_equal(truncate(path, 20), 0);
    (void)snprintf(target, sizeof target, "%s-2", f->other);
    assert_int_equal(store_backup(f->dir, target, &f->e), ERR_CORRUPT);
    assert_non_null(strstr(f->e.text, "00000001.seg' has 20 bytes where"));
    assert_int_not_equal(access(target, F_OK), 0);
    sql_run(f, "UPDATE fact SET body = x'00' WHERE seq = 1");
    struct store_restored what;
    assert_int_equal(store_backup_restore(f->dir, target, NULL, &what, &f->e), ERR_CORRUPT);
    assert_non_null(strstr(f->e.text, "nothing in '"));
    assert_int_not_equal(access(target, F_OK), 0);
}

/* Restores the directory of `f` beside it. Then the copy is whole and can be used. */
static struct store_restored restored(struct fixture *f, struct fixture *copy)
{
    struct store_restored what;
    *copy = (struct fixture){.store = NULL};
    (void)snprintf(copy->dir, sizeof copy->dir, "%.50s-new", f->other);
    enum err r = store_backup_restore(f->dir, copy->dir, NULL, &what, &f->e);
    assert_string_equal(r == ERR_OK ? "" : f->e.text, "");
    assert_true(what.damaged);
    nothing_found(f, copy->dir);
    fixture_open(copy);
    return what;
}

static void a_damaged_directory_goes_to_the_newest_proven_point(void **state)
{
    struct fixture *f = *state;
    struct fixture copy;
    fixture_open(f);
    steps(f, 1, 20);
    snapshot_put(f, 8);
    steps(f, 21, 60);
    fixture_close(f);
    sql_run(f, "UPDATE fact SET body = x'00' WHERE seq IN (5, 50)");
    struct store_restored what = restored(f, &copy);
    assert_int_equal(what.seq, 49); /* from snapshot 8 on */
    assert_int_equal(what.acknowledged, 60);
    assert_int_equal(fixture_facts_check(&copy, 8), 49);
    assert_ok(fixture_step(&copy, 50)); /* and goes on */
    fixture_close(&copy);
    nothing_found(f, copy.dir);
    found(f, "fact 50 is damaged"); /* the damaged directory is as it was */
}

static void a_restore_takes_each_whole_row_and_record(void **state)
{
    struct fixture *f = *state;
    struct fixture copy;
    fixture_open(f);
    steps(f, 1, 20);
    fixture_close(f);
    fixture_flip(f, "log/00000001.seg", 16 + 19 * (40 + 12) + 45); /* the last line */
    struct store_restored what = restored(f, &copy);
    assert_int_equal(what.seq, 20);
    assert_int_equal(what.output_left, 1);
    assert_int_equal(fixture_facts_check(&copy, 0), 20);
    fixture_steps_check(&copy, copy.dir, 19);
    fixture_close(&copy);
}

/* Pages in the middle of table fact are gone: the facts before them are proven. */
static void a_restore_reads_around_unreadable_pages(void **state)
{
    struct fixture *f = *state;
    struct fixture copy;
    fixture_open(f);
    assert_ok(fixture_facts(f, 1, 1000));
    fixture_close(f);
    char path[128];
    char zeroes[4096] = {0};
    struct stat status;
    fixture_path(f, "weir.db", path);
    int fd = open(path, O_RDWR | O_CLOEXEC);
    assert_true(fd >= 0);
    assert_int_equal(fstat(fd, &status), 0);
    assert_int_equal(pwrite(fd, zeroes, sizeof zeroes, status.st_size - 3 * 4096), sizeof zeroes);
    (void)close(fd);
    struct store_restored what = restored(f, &copy);
    assert_true(what.unreadable);
    assert_in_range(what.seq, 500, 999);
    assert_int_equal(fixture_facts_check(&copy, 0), what.seq);
    fixture_close(&copy);
}

/* Without a readable database the newest whole snapshot is what can be proven. */
static void a_restore_needs_no_database(void **state)
{
    struct fixture *f = *state;
    struct fixture copy;
    fixture_open(f);
    steps(f, 1, 20);
    snapshot_put(f, 10);
    snapshot_put(f, 15);
    fixture_close(f);
    fixture_truncate(f, "weir.db", 100);
    fixture_flip(f, "snapshot/15.snap", 34);
    struct store_restored what = restored(f, &copy);
    assert_int_equal(what.seq, 10);
    assert_int_equal(what.acknowledged, 20);
    assert_int_equal(store_commit_last_seq(copy.store), 10);
    assert_ok(fixture_facts(&copy, 11, 12));
    fixture_close(&copy);
    nothing_found(f, copy.dir);
}

/* A backup that an older Weir made is restored as it is; the server brings it up to date. */
static void a_backup_of_an_older_weir_is_restored(void **state)
{
    struct fixture *f = *state;
    struct store_restored what;
    assert_int_equal(mkdir(f->dir, 0700), 0);
    for (int i = 0; i < 3; i++) {
        sql_run(f, migrations[i].sql);
    }
    sql_run(f, "PRAGMA user_version = 3;"
               "INSERT INTO meta VALUES ('schema', '0003_attempts'), ('written_by', 'weir 0.1.0');"
               "INSERT INTO fact VALUES (1, 10, 1, CAST('fact 1' AS BLOB))");
    assert_ok(store_backup_restore(f->dir, f->other, NULL, &what, &f->e));
    assert_false(what.damaged);
    struct fixture copy = {.store = NULL};
    (void)str_copy(copy.dir, sizeof copy.dir, f->other);
    fixture_open(&copy);
    assert_int_equal(fixture_facts_check(&copy, 0), 1);
    fixture_close(&copy);
    nothing_found(f, copy.dir);
}

/* Commits steps until it is killed, telling each acknowledged number. */
static void writer_run(struct fixture *f, int out)
{
    fixture_open(f);
    for (uint64_t seq = store_commit_last_seq(f->store) + 1;; seq++) {
        if (fixture_step(f, seq) != ERR_OK || write(out, &seq, sizeof seq) != sizeof seq) {
            _exit(1);
        }
    }
}

static void backups_beside_a_writer_are_consistent(void **state)
{
    struct fixture *f = *state;
    int ends[2];
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    pid_t child = fork();
    if (child == 0) {
        writer_run(f, ends[1]);
    }
    (void)close(ends[1]);
    char target[80];
    for (int i = 0; i < 5; i++) {
        uint64_t acknowledged = 0;
        for (int read_count = 0; read_count < 40; read_count++) {
            assert_int_equal(read(ends[0], &acknowledged, sizeof acknowledged),
                             sizeof acknowledged);
        }
        (void)snprintf(target, sizeof target, "%s-%d", f->other, i);
        enum err r = store_backup(f->dir, target, &f->e);
        assert_string_equal(r == ERR_OK ? "" : f->e.text, "");
        struct fixture copy = {.store = NULL};
        (void)str_copy(copy.dir, sizeof copy.dir, target);
        fixture_open(&copy);
        uint64_t last = fixture_facts_check(&copy, 0);
        assert_true(last >= acknowledged);
        fixture_steps_check(&copy, copy.dir, last);
        nothing_found(&copy, copy.dir);
        fixture_close(&copy);
    }
    assert_int_equal(kill(child, SIGKILL), 0);
    assert_int_equal(waitpid(child, NULL, 0), child);
    (void)close(ends[0]);
}

static void nothing_is_removed_while_files_are_held(void **state)
{
    struct fixture *f = *state;
    int hold;
    bool more;
    fixture_open(f);
    steps(f, 1, 30);
    snapshot_put(f, 5);
    snapshot_put(f, 6);
    assert_ok(datadir_hold_files(f->dir, &hold, &f->e));
    snapshot_put(f, 7);
    assert_true(fixture_exists(f, "snapshot/5.snap"));
    assert_ok(store_prune(f->store, 0, &more, &f->e));
    (void)close(hold);
    snapshot_put(f, 8);
    assert_false(fixture_exists(f, "snapshot/5.snap"));
    assert_true(fixture_exists(f, "snapshot/6.snap")); /* the only way back to fact 6 */
    assert_true(fixture_exists(f, "snapshot/7.snap"));
}

static void each_damage_is_found_and_named(void **state)
{
    struct fixture *f = *state;
    fixture_open(f);
    steps(f, 1, 20);
    snapshot_put(f, 10);
    snapshot_put(f, 15);
    nothing_found(f, f->dir); /* beside the running server */
    fixture_close(f);
    nothing_found(f, f->dir);
    fixture_flip(f, "snapshot/10.snap", 34);
    found(f, "snapshot/10.snap': the checksum differs\n");
    fixture_truncate(f, "snapshot/10.snap", 33);
    found(f, "snapshot/10.snap' has 33 bytes instead of 37\n");
    fixture_flip(f, "snapshot/15.snap", 0);
    found(f, "snapshot/15.snap' is not a snapshot of Weir\n");
    sql_run(f, "DELETE FROM fact WHERE seq IN (1, 2, 8, 9)");
    found(f, "weir.db: facts 8 to 9 are missing\n");
    found(f, "weir.db: facts before 3 are gone and no whole snapshot has them\n");
    char path[128];
    fixture_path(f, "snapshot/10.snap", path);
    assert_int_equal(unlink(path), 0);
    found(f, "snapshot/10.snap' is missing\n");
    fixture_flip(f, "log/00000001.seg", 16 + 40);
    found(f, "00000001.seg' at byte 16: the checksum differs (task 1.0:1, stream 1, offset 0)\n");
    sql_run(f, "UPDATE log_segment SET chunks = 3");
    found(f, "weir.db: the index has 20 chunks of segment 1 and counts 3\n");
    fixture_path(f, "log/00000001.seg", path);
    assert_int_equal(unlink(path), 0);
    found(f, "00000001.seg is missing\n");
}

static void a_damaged_page_is_found(void **state)
{
    struct fixture *f = *state;
    fixture_open(f);
    assert_ok(fixture_facts(f, 1, 1000));
    fixture_close(f);
    char path[128];
    fixture_path(f, "weir.db", path);
    int fd = open(path, O_RDWR | O_CLOEXEC);
    assert_true(fd >= 0);
    char zeroes[4096] = {0};
    struct stat status;
    assert_int_equal(fstat(fd, &status), 0);
    for (off_t at = 15 * 4096; at < status.st_size; at += 4096) {
        assert_int_equal(pwrite(fd, zeroes, sizeof zeroes, at), sizeof zeroes);
    }
    (void)close(fd);
    found(f, "weir.db");
    fixture_truncate(f, "weir.db", 100);
    found(f, "weir.db");
    fixture_truncate(f, "weir.db", 0);
    found(f, "weir.db' is empty");
}

static void findings_are_bounded(void **state)
{
    struct fixture *f = *state;
    fixture_open(f);
    assert_ok(fixture_facts(f, 1, 1000));
    assert_ok(fixture_facts(f, 1001, 2000));
    assert_ok(fixture_facts(f, 2001, 3000));
    fixture_close(f);
    sql_run(f, "DELETE FROM fact WHERE seq % 2 = 0");
    auto_free(freep) char *findings = fixture_findings(f, f->dir);
    size_t lines = 0;
    for (const char *p = findings; *p != '\0'; p++) {
        lines += *p == '\n';
    }
    assert_int_equal(lines, STORE_FINDINGS_MAX + 1);
    assert_non_null(strstr(findings, "there are more findings than are listed\n"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        store_test(a_backup_restores_to_the_same_state),
        store_test(a_backup_refuses_what_exists),
        store_test(a_restore_refuses_a_directory_in_use),
        store_test(a_failed_restore_leaves_nothing),
        store_test(backups_beside_a_writer_are_consistent),
        store_test(nothing_is_removed_while_files_are_held),
        store_test(each_damage_is_found_and_named),
        store_test(a_damaged_page_is_found),
        store_test(findings_are_bounded),
        store_test(a_damaged_directory_goes_to_the_newest_proven_point),
        store_test(a_restore_takes_each_whole_row_and_record),
        store_test(a_restore_reads_around_unreadable_pages),
        store_test(a_restore_needs_no_database),
        store_test(a_backup_of_an_older_weir_is_restored),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
