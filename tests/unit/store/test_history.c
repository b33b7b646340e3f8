/* test_history.c - ended tasks and their filters, retention of facts, readers beside a writer.
 * SPDX-License-Identifier: Apache-2.0 */
#include "fixture.h"

#include "base/buf.h"
#include "store/sqlite/reader_internal.h"

#include <inttypes.h>

enum { ROWS = 300 };

static const char *const pools[] = {"default", "gpu", "spot"};
static const char *const users[] = {"ann", "bob", "cyd", "dan"};

/* Task n: pool n%3, user n%4, state 6 + n%5, kind n%2, ended at 10 n. */
static void rows_put(struct fixture *f)
{
    static struct store_history rows[ROWS];
    static char names[ROWS][16];
    static char jsons[ROWS][32];
    for (size_t i = 0; i < ROWS; i++) {
        uint64_t task = i + 1;
        (void)snprintf(names[i], sizeof names[i], "%s%d", i % 50 == 0 ? "" : "run", (int)(i % 10));
        (void)snprintf(jsons[i], sizeof jsons[i], "{\"id\":%d}", (int)task);
        rows[i] = (struct store_history){.task = task,
                                         .submitted_ms = (int64_t)task,
                                         .ended_ms = (int64_t)task * 10,
                                         .state = 6 + (uint32_t)task % 5,
                                         .kind = (uint32_t)task % 2,
                                         .pool = str_of(pools[task % 3]),
                                         .user = str_of(users[task % 4]),
                                         .project = str_of("p"),
                                         .name = str_of(names[i]),
                                         .json = str_of(jsons[i])};
    }
    struct store_batch batch = {.history = rows, .history_count = ROWS};
    assert_ok(store_commit(f->store, &batch, &f->e));
}

static bool row_wanted(const struct store_history_filter *filter, uint64_t task)
{
    char name[16];
    size_t i = task - 1;
    (void)snprintf(name, sizeof name, "%s%d", i % 50 == 0 ? "" : "run", (int)(i % 10));
    return (filter->before == 0 || task < filter->before) &&
           (filter->states == 0 || (filter->states >> (6 + task % 5) & 1) != 0) &&
           (filter->kinds == 0 || (filter->kinds >> task % 2 & 1) != 0) &&
           (filter->pool == NULL || strcmp(filter->pool, pools[task % 3]) == 0) &&
           (filter->user == NULL || strcmp(filter->user, users[task % 4]) == 0) &&
           (filter->project == NULL || strcmp(filter->project, "p") == 0) &&
           (filter->name == NULL || strcmp(filter->name, name) == 0) &&
           (filter->ended_before_ms == 0 || (int64_t)task * 10 < filter->ended_before_ms) &&
           (filter->ended_after_ms == 0 || (int64_t)task * 10 > filter->ended_after_ms);
}

struct expected {
    const struct store_history_filter *filter;
    uint64_t next; /* looked for from here downwards */
    size_t count;
};

static void row_check(void *ctx, const struct store_history *row)
{
    struct expected *expected = ctx;
    while (expected->next > 0 && !row_wanted(expected->filter, expected->next)) {
        expected->next--;
    }
    assert_int_equal(row->task, expected->next);
    char json[32];
    (void)snprintf(json, sizeof json, "{\"id\":%d}", (int)row->task);
    assert_true(str_is(row->json, json));
    assert_true(str_is(row->user, users[row->task % 4]));
    assert_int_equal(row->ended_ms, row->task * 10);
    expected->next--;
    expected->count++;
}

static void list_check(struct store_reader *reader, const struct store_history_filter *filter)
{
    struct expected expected = {.filter = filter, .next = ROWS};
    struct error e;
    size_t wanted = 0;
    for (uint64_t task = 1; task <= ROWS; task++) {
        wanted += row_wanted(filter, task);
    }
    assert_ok(store_history_list(reader, filter, row_check, &expected, &e));
    assert_int_equal(expected.count, wanted < filter->limit ? wanted : filter->limit);
}

static void lists_hold_what_the_filters_say_newest_first(void **state)
{
    struct fixture *f = *state;
    struct store_reader *reader;
    fixture_open(f);
    rows_put(f);
    assert_ok(store_reader_open(f->dir, &reader, &f->e));
    /* Every combination of present and absent filters. */
    for (unsigned bits = 0; bits < 1U << 10; bits++) {
        struct store_history_filter filter = {
            .before = (bits & 1) != 0 ? 222 : 0,
            .states = (bits & 2) != 0 ? UINT64_C(1) << 7 | UINT64_C(1) << 9 : 0,
            .kinds = (bits & 4) != 0 ? 2 : 0,
            .pool = (bits & 8) != 0 ? "gpu" : NULL,
            .user = (bits & 16) != 0 ? "bob" : NULL,
            .project = (bits & 32) != 0 ? "p" : NULL,
            .name = (bits & 64) != 0 ? ((bits & 1) != 0 ? "run7" : "0") : NULL,
            .ended_after_ms = (bits & 128) != 0 ? 700 : 0,
            .ended_before_ms = (bits & 512) != 0 ? 2100 : 0,
            .limit = (bits & 256) != 0 ? 7 : 1000,
        };
        list_check(reader, &filter);
    }
    store_reader_close(reader);
}

static void row_count(void *ctx, const struct store_history *row)
{
    assert_true(row->task > 0);
    ++*(size_t *)ctx;
}

static void one_task_is_found_by_its_number(void **state)
{
    struct fixture *f = *state;
    struct store_reader *reader;
    struct arena arena;
    struct str json;
    fixture_open(f);
    rows_put(f);
    arena_init(&arena);
    assert_ok(store_reader_open(f->dir, &reader, &f->e));
    assert_ok(store_history_get(reader, 42, &arena, &json, &f->e));
    assert_true(str_is(json, "{\"id\":42}"));
    assert_int_equal(store_history_get(reader, ROWS + 1, &arena, &json, &f->e), ERR_NOT_FOUND);
    assert_int_equal(store_history_get(reader, UINT64_MAX, &arena, &json, &f->e), ERR_NOT_FOUND);
    store_reader_close(reader);
    arena_done(&arena);
}

static size_t rows_of_pool(struct store_reader *reader, const char *pool)
{
    size_t count = 0;
    struct error e;
    const struct store_history_filter filter = {.pool = pool, .limit = 10};
    assert_ok(store_history_list(reader, &filter, row_count, &count, &e));
    return count;
}

/* As after a restore to an earlier point: the task's number is given out a second time. */
static void a_task_that_ends_a_second_time_replaces_its_row(void **state)
{
    struct fixture *f = *state;
    struct store_reader *reader;
    struct arena arena;
    struct str json;
    struct store_history row = {.task = 7,
                                .submitted_ms = 1,
                                .ended_ms = 2,
                                .pool = str_of("one"),
                                .user = str_of("u"),
                                .project = str_of("p"),
                                .name = str_of("first"),
                                .json = str_of("{\"id\":7}")};
    const struct store_batch batch = {.history = &row, .history_count = 1};
    fixture_open(f);
    assert_ok(store_commit(f->store, &batch, &f->e));
    row.pool = str_of("two");
    row.json = str_of("{\"id\":7,\"again\":true}");
    assert_ok(store_commit(f->store, &batch, &f->e));
    arena_init(&arena);
    assert_ok(store_reader_open(f->dir, &reader, &f->e));
    assert_ok(store_history_get(reader, 7, &arena, &json, &f->e));
    assert_true(str_is(json, "{\"id\":7,\"again\":true}"));
    assert_int_equal(rows_of_pool(reader, "one"), 0);
    assert_int_equal(rows_of_pool(reader, "two"), 1);
    store_reader_close(reader);
    arena_done(&arena);
}

/* The plan of a statement, its lines joined. */
static void plan_of(sqlite3 *db, sqlite3_stmt *stmt, char *out, size_t size)
{
    struct buf sql;
    sqlite3_stmt *explain;
    buf_init(&sql, 10000);
    buf_addf(&sql, "EXPLAIN QUERY PLAN %s", sqlite3_sql(stmt));
    assert_int_equal(sqlite3_prepare_v2(db, buf_text(&sql), -1, &explain, NULL), SQLITE_OK);
    out[0] = '\0';
    while (sqlite3_step(explain) == SQLITE_ROW) {
        size_t len = strlen(out);
        (void)snprintf(out + len, size - len, "%s; ",
                       (const char *)sqlite3_column_text(explain, 3));
    }
    (void)sqlite3_finalize(explain);
    buf_done(&sql);
}

static void no_filter_scans_or_sorts(void **state)
{
    struct fixture *f = *state;
    struct store_reader *reader;
    fixture_open(f);
    rows_put(f);
    assert_ok(store_reader_open(f->dir, &reader, &f->e));
    static const struct {
        enum read_stmt stmt;
        const char *index;
    } wanted[] = {
        {READ_FACT_PAGE, "SEARCH fact USING INTEGER PRIMARY KEY"},
        {READ_HISTORY_GET, "SEARCH history USING INTEGER PRIMARY KEY"},
        {READ_HISTORY_ALL, "SEARCH history USING INTEGER PRIMARY KEY (rowid<?)"},
        {READ_HISTORY_RECENT, "SEARCH history USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)"},
        {READ_HISTORY_LAST, "USING COVERING INDEX history_ended (ended_ms>? AND ended_ms<?)"},
        {READ_HISTORY_POOL, "USING INDEX history_pool (pool=? AND rowid<?)"},
        {READ_HISTORY_USER, "USING INDEX history_user (user=? AND rowid<?)"},
        {READ_HISTORY_PROJECT, "USING INDEX history_project (project=? AND rowid<?)"},
        {READ_HISTORY_NAME, "USING INDEX history_name (name=? AND rowid<?)"},
        {READ_HISTORY_STATE, "USING INDEX history_state (state=? AND rowid<?)"},
        {READ_LOG, "USING INDEX log_chunk_arrival (task=? AND place>?)"},
    };
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
        char plan[1000];
        plan_of(reader->db, reader->stmt[wanted[i].stmt], plan, sizeof plan);
        if (strstr(plan, wanted[i].index) == NULL) {
            assert_string_equal(plan, wanted[i].index);
        }
        assert_null(strstr(plan, "SCAN"));
        assert_null(strstr(plan, "TEMP B-TREE"));
    }
    store_reader_close(reader);
}

static void a_reader_cannot_write(void **state)
{
    struct fixture *f = *state;
    struct store_reader *reader;
    fixture_open(f);
    assert_ok(store_reader_open(f->dir, &reader, &f->e));
    assert_int_equal(sqlite3_exec(reader->db, "DELETE FROM fact", NULL, NULL, NULL),
                     SQLITE_READONLY);
    store_reader_close(reader);
    assert_int_equal(store_reader_open(f->other, &reader, &f->e), ERR_NOT_FOUND);
    assert_non_null(strstr(f->e.text, "no data of Weir in '"));
}

static enum err fact_count(void *ctx, const struct store_fact *fact, struct error *e)
{
    (void)e;
    uint64_t *last = ctx;
    assert_int_equal(fact->seq, *last + 1);
    *last = fact->seq;
    return ERR_OK;
}

static void facts_are_pruned_behind_the_older_snapshot(void **state)
{
    struct fixture *f = *state;
    struct store_reader *reader;
    bool more = true;
    fixture_open(f);
    for (uint64_t first = 1; first < 9000; first += 1000) {
        assert_ok(fixture_facts(f, first, first + 999));
    }
    assert_ok(store_snapshot_write(f->dir, 5000, str_of("5000"), &f->e));
    assert_ok(store_prune_snapshot_taken(f->store, 5000, &f->e));
    assert_ok(store_prune(f->store, 0, &more, &f->e));
    assert_false(more);
    assert_int_equal(fixture_facts_check(f, 0), 9000); /* one snapshot may be damaged */
    assert_ok(store_snapshot_write(f->dir, 8000, str_of("8000"), &f->e));
    assert_ok(store_prune_snapshot_taken(f->store, 8000, &f->e));
    int calls = 0;
    for (more = true; more; calls++) {
        assert_ok(store_prune(f->store, 0, &more, &f->e));
    }
    assert_in_range(calls, 3, 4); /* bounded work in each */
    assert_int_equal(fixture_facts_check(f, 4999), 9000);
    assert_ok(store_reader_open(f->dir, &reader, &f->e));
    uint64_t last = 4998;
    assert_int_equal(store_reader_facts(reader, 4998, 10, fact_count, &last, &f->e), ERR_NOT_FOUND);
    assert_string_equal(f->e.text, "facts before 5000 are no longer kept");
    last = 4999;
    assert_ok(store_reader_facts(reader, last, 10, fact_count, &last, &f->e));
    assert_int_equal(last, 5009);
    last = 8995;
    assert_ok(store_reader_facts(reader, last, 10, fact_count, &last, &f->e));
    assert_int_equal(last, 9000);
    assert_ok(store_reader_facts(reader, last, 10, fact_count, &last, &f->e));
    assert_int_equal(last, 9000);
    store_reader_close(reader);
}

static void a_reader_sees_commits_and_does_not_hold_them_up(void **state)
{
    struct fixture *f = *state;
    struct store_reader *reader;
    uint64_t last = 0;
    fixture_open(f);
    assert_ok(store_reader_open(f->dir, &reader, &f->e));
    assert_ok(store_reader_facts(reader, 0, 10, fact_count, &last, &f->e));
    assert_int_equal(last, 0);
    assert_ok(fixture_facts(f, 1, 4));
    assert_ok(store_reader_facts(reader, 0, 10, fact_count, &last, &f->e));
    assert_int_equal(last, 4);
    store_reader_close(reader);
}

static void old_history_goes_and_the_rest_stays(void **state)
{
    struct fixture *f = *state;
    struct store_reader *reader;
    bool more;
    fixture_open(f);
    rows_put(f); /* ended at 10 … 3000; 1000 ms are kept */
    assert_ok(store_prune(f->store, 2500, &more, &f->e));
    assert_false(more);
    assert_ok(store_reader_open(f->dir, &reader, &f->e));
    struct store_history_filter filter = {.limit = 1000, .ended_after_ms = 1499};
    list_check(reader, &filter);
    filter.ended_after_ms = 0;
    struct expected expected = {.filter = &filter, .next = ROWS};
    assert_ok(store_history_list(reader, &filter, row_check, &expected, &f->e));
    assert_int_equal(expected.count, ROWS - 149);
    store_reader_close(reader);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        store_test(lists_hold_what_the_filters_say_newest_first),
        store_test(one_task_is_found_by_its_number),
        store_test(a_task_that_ends_a_second_time_replaces_its_row),
        store_test(no_filter_scans_or_sorts),
        store_test(a_reader_cannot_write),
        store_test(facts_are_pruned_behind_the_older_snapshot),
        store_test(a_reader_sees_commits_and_does_not_hold_them_up),
        store_test(old_history_goes_and_the_rest_stays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
