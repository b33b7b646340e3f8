/* test_usage.c - the accounting: sums between any two moments, days, nodes, waits, retention.
 * SPDX-License-Identifier: Apache-2.0 */
#include "fixture.h"

#include "base/buf.h"
#include "base/mem.h"
#include "store/sqlite/reader_internal.h"
#include "store/store_usage.h"

#include <sqlite3.h>

#include <stdlib.h>
#include <string.h>

enum { USES = 400, WINDOWS = 60, HOUR_MS = 3600000 };

static const char *const pools[] = {"default", "gpu"};
static const char *const users[] = {"ann", "bob", "cyd"};
static const char *const projects[] = {"nlp", "vision"};
static const char *const nodes[] = {"n1", "n2", "n3"};

static uint64_t seed;

static int64_t draw(int64_t below)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (int64_t)((seed >> 33) % (uint64_t)below);
}

/* Uses of up to three days within ten days; times are whole hours now and then, so that some are at midnight. */
static void uses_draw(struct store_use *uses, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const bool task = draw(3) == 0;
        const int64_t begin_ms = draw(240) * HOUR_MS + (draw(2) == 0 ? 0 : draw(HOUR_MS));
        const int64_t length_ms = task ? 0 : draw(72) * HOUR_MS;
        uses[i] = (struct store_use){
            .task = i + 1,
            .index = task ? -1 : 0,
            .attempt = task ? 0 : 1,
            .ending = task ? (enum store_use_end)(USE_COMPLETED + draw(5))
                           : (enum store_use_end)(USE_TRY + draw(4)),
            .begin_ms = begin_ms,
            .end_ms = begin_ms + length_ms,
            .lost_from_ms = begin_ms + (draw(2) == 0 ? length_ms : length_ms / 2),
            .submitted_ms = task || begin_ms < 2 ? 0 : begin_ms - begin_ms / 2,
            .slots_milli = 1000 * draw(9),
            .asked = draw(100) * HOUR_MS,
            .waited = task ? draw(100) * HOUR_MS : 0,
            .kind = (uint32_t)draw(2),
            .pool = str_of(pools[draw(2)]),
            .user = str_of(users[draw(3)]),
            .project = str_of(projects[draw(2)]),
            .node = str_of(task ? "" : nodes[draw(3)]),
        };
    }
}

static void uses_put(struct fixture *f, const struct store_use *uses, size_t count)
{
    struct store_batch batch = {.uses = uses, .use_count = count};
    assert_ok(store_commit(f->store, &batch, &f->e));
}

struct answer {
    struct {
        char key[32];
        int64_t number;
        int64_t sums[USAGE_SUM_COUNT];
    } rows[64];
    size_t count;
};

static void row_take(void *ctx, const struct store_usage_row *row)
{
    struct answer *answer = ctx;
    assert_true(answer->count < 64);
    (void)snprintf(answer->rows[answer->count].key, 32, "%.*s", (int)row->key.len, row->key.p);
    answer->rows[answer->count].number = row->number;
    memcpy(answer->rows[answer->count].sums, row->sums, sizeof row->sums);
    answer->count++;
}

static void read_usage(struct store_reader *reader, const struct store_usage_query *query,
                       struct answer *ret, struct store_usage_said *said)
{
    struct error e;
    memset(ret, 0, sizeof *ret);
    assert_ok(store_usage_read(reader, query, row_take, ret, said, &e));
    assert_false(said->more);
}

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static bool within(const struct store_usage_query *query, int64_t ms)
{
    return ms >= query->since_ms && ms < query->until_ms;
}

static bool text_wanted(const char *asked, struct str text)
{
    return asked == NULL || str_is(text, asked);
}

/* What one use adds, counted without days and tables. */
static void use_add(const struct store_usage_query *query, const struct store_use *use,
                    int64_t *sums)
{
    const int64_t from_ms = larger(use->begin_ms, query->since_ms);
    const int64_t to_ms = smaller(use->end_ms, query->until_ms);
    sums[USAGE_USED] += larger(0, to_ms - from_ms) * use->slots_milli / 1000;
    sums[USAGE_LOST] +=
        larger(0, to_ms - larger(from_ms, use->lost_from_ms)) * use->slots_milli / 1000;
    if (within(query, use->begin_ms) && query->by != USAGE_BY_NODE) {
        sums[USAGE_WAITED] += use->submitted_ms > 0
                                  ? (use->begin_ms - use->submitted_ms) * use->slots_milli / 1000
                                  : use->waited;
    }
    if (!within(query, use->end_ms)) {
        return;
    }
    sums[USAGE_ASKED] += query->by != USAGE_BY_NODE ? use->asked : 0;
    if (use->ending >= USE_TRY) {
        sums[USAGE_TRIES]++;
        if (use->ending > USE_TRY) {
            sums[USAGE_TRIES + (use->ending - USE_TRY)]++;
        }
    } else {
        sums[USAGE_COMPLETED + (use->ending - USE_COMPLETED)]++;
    }
}

static struct str key_of(enum store_usage_by by, const struct store_use *use)
{
    return by == USAGE_BY_USER      ? use->user
           : by == USAGE_BY_PROJECT ? use->project
           : by == USAGE_BY_POOL    ? use->pool
                                    : use->node;
}

static void answer_check(const struct store_usage_query *query, const struct store_use *uses,
                         size_t count, const struct answer *answer)
{
    int64_t total[USAGE_SUM_COUNT] = {0};
    int64_t wanted_total[USAGE_SUM_COUNT] = {0};
    for (size_t r = 0; r < answer->count; r++) {
        int64_t wanted[USAGE_SUM_COUNT] = {0};
        for (size_t i = 0; i < count; i++) {
            const bool mine = query->by == USAGE_BY_KIND
                                  ? uses[i].kind == answer->rows[r].number
                                  : str_is(key_of(query->by, &uses[i]), answer->rows[r].key);
            if (mine && text_wanted(query->pool, uses[i].pool) &&
                text_wanted(query->user, uses[i].user) &&
                text_wanted(query->project, uses[i].project)) {
                use_add(query, &uses[i], wanted);
            }
        }
        for (int i = 0; i < USAGE_SUM_COUNT; i++) {
            if (query->by != USAGE_BY_DAY) {
                assert_int_equal(answer->rows[r].sums[i], wanted[i]);
            }
            total[i] += answer->rows[r].sums[i];
        }
    }
    for (size_t i = 0; i < count; i++) {
        if (text_wanted(query->pool, uses[i].pool) && text_wanted(query->user, uses[i].user) &&
            text_wanted(query->project, uses[i].project) &&
            (query->by != USAGE_BY_NODE || uses[i].node.len > 0)) {
            use_add(query, &uses[i], wanted_total);
        }
    }
    assert_memory_equal(total, wanted_total, sizeof total);
}

static void sums_between_any_moments_are_those_of_the_uses(void **state)
{
    struct fixture *f = *state;
    static struct store_use uses[USES];
    struct store_reader *reader;
    struct answer answer;
    struct store_usage_said said;
    fixture_open(f);
    uses_draw(uses, USES);
    uses_put(f, uses, USES / 2);
    uses_put(f, uses + USES / 2, USES - USES / 2);
    assert_ok(store_reader_open(f->dir, &reader, &f->e));
    for (int i = 0; i < WINDOWS; i++) {
        const int64_t since_ms = draw(320) * HOUR_MS + draw(3) * 1234567;
        struct store_usage_query query = {
            .since_ms = since_ms,
            .until_ms = since_ms + draw(3) * draw(80 * HOUR_MS),
            .pool = draw(3) == 0 ? "gpu" : NULL,
        };
        for (unsigned by = USAGE_BY_USER; by <= USAGE_BY_NODE; by++) {
            query.by = (enum store_usage_by)by;
            query.user = by != USAGE_BY_NODE && i % 3 == 0 ? "bob" : NULL;
            query.project = by != USAGE_BY_NODE && i % 4 == 0 ? "nlp" : NULL;
            read_usage(reader, &query, &answer, &said);
            assert_int_equal(said.since_ms, query.since_ms);
            assert_int_equal(said.until_ms, query.until_ms);
            answer_check(&query, uses, USES, &answer);
        }
    }
    store_reader_close(reader);
}

static void days_come_in_order_and_add_up(void **state)
{
    struct fixture *f = *state;
    struct store_reader *reader;
    struct answer answer;
    struct store_usage_said said;
    const int64_t begin_ms = 3 * STORE_DAY_MS + 18 * HOUR_MS;
    const struct store_use use = {.task = 7,
                                  .attempt = 1,
                                  .ending = USE_TRY,
                                  .begin_ms = begin_ms,
                                  .end_ms = begin_ms + 36 * HOUR_MS,
                                  .lost_from_ms = begin_ms + 36 * HOUR_MS,
                                  .slots_milli = 500,
                                  .node = str_of("n1")};
    fixture_open(f);
    uses_put(f, &use, 1);
    assert_ok(store_reader_open(f->dir, &reader, &f->e));
    const struct store_usage_query query = {.by = USAGE_BY_DAY, .until_ms = 9 * STORE_DAY_MS};
    read_usage(reader, &query, &answer, &said);
    static const int64_t hours[] = {6, 24, 6};
    assert_int_equal(answer.count, 3);
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(answer.rows[i].number, 3 + (int64_t)i);
        assert_int_equal(answer.rows[i].sums[USAGE_USED], hours[i] * HOUR_MS / 2);
        assert_int_equal(answer.rows[i].sums[USAGE_TRIES], i == 2);
    }
    assert_int_equal(said.first_ms, 3 * STORE_DAY_MS);
    store_reader_close(reader);
}

static void a_later_attempt_has_waited_since_the_attempt_before(void **state)
{
    struct fixture *f = *state;
    struct store_reader *reader;
    struct answer answer;
    struct store_usage_said said;
    const struct store_attempt before = {
        .task = 7, .index = 2, .attempt = 1, .ended_ms = 5000, .json = str_of("{}")};
    const struct store_use use = {.task = 7,
                                  .index = 2,
                                  .attempt = 2,
                                  .ending = USE_TRY,
                                  .submitted_ms = 1000,
                                  .begin_ms = 9000,
                                  .end_ms = 9500,
                                  .lost_from_ms = 9500,
                                  .slots_milli = 2000,
                                  .user = str_of("ann")};
    struct store_batch batch = {
        .attempts = &before, .attempt_count = 1, .uses = &use, .use_count = 1};
    fixture_open(f);
    assert_ok(store_commit(f->store, &batch, &f->e));
    assert_ok(store_reader_open(f->dir, &reader, &f->e));
    const struct store_usage_query query = {.by = USAGE_BY_USER, .until_ms = STORE_DAY_MS};
    read_usage(reader, &query, &answer, &said);
    assert_int_equal(answer.count, 1);
    assert_int_equal(answer.rows[0].sums[USAGE_WAITED], 2 * (9000 - 5000));
    store_reader_close(reader);
}

/* Sums stay when their pieces go. A part of a day without pieces counts as the whole day, and the answer
 * says so. */
static void sums_outlive_the_pieces(void **state)
{
    struct fixture *f = *state;
    static struct store_use uses[USES];
    struct store_reader *reader;
    struct answer before;
    struct answer after;
    struct store_usage_said said;
    bool more = true;
    fixture_open(f);
    uses_draw(uses, USES);
    uses_put(f, uses, USES);
    assert_ok(store_reader_open(f->dir, &reader, &f->e));
    struct store_usage_query query = {
        .by = USAGE_BY_USER, .since_ms = 2 * STORE_DAY_MS, .until_ms = 5 * STORE_DAY_MS};
    read_usage(reader, &query, &before, &said);
    while (more) {
        assert_ok(store_prune(f->store, 6 * STORE_DAY_MS + 1000, &more, &f->e));
    }
    query.since_ms += HOUR_MS;
    query.until_ms -= HOUR_MS;
    read_usage(reader, &query, &after, &said);
    assert_int_equal(said.since_ms, 2 * STORE_DAY_MS);
    assert_int_equal(said.until_ms, 5 * STORE_DAY_MS);
    assert_int_equal(said.exact_from_ms, 6 * STORE_DAY_MS);
    assert_int_equal(after.count, before.count);
    assert_memory_equal(after.rows, before.rows, sizeof before.rows[0] * before.count);
    query = (struct store_usage_query){.by = USAGE_BY_USER,
                                       .since_ms = 6 * STORE_DAY_MS + 5,
                                       .until_ms = 6 * STORE_DAY_MS + 7 * HOUR_MS};
    read_usage(reader, &query, &after, &said);
    assert_int_equal(said.since_ms, query.since_ms);
    answer_check(&query, uses, USES, &after);
    store_reader_close(reader);
}

/* A directory that is restored after damage still knows of which days the pieces are gone. */
static void a_restore_knows_which_days_are_exact(void **state)
{
    struct fixture *f = *state;
    struct store_reader *reader;
    struct answer answer;
    struct store_usage_said said;
    struct store_restored what;
    bool more = true;
    fixture_open(f);
    struct store_use use = {.task = 1, .index = 0, .attempt = 1, .ending = USE_TRY};
    use.begin_ms = STORE_DAY_MS;
    use.end_ms = use.lost_from_ms = STORE_DAY_MS + HOUR_MS;
    uses_put(f, &use, 1);
    while (more) {
        assert_ok(store_prune(f->store, 6 * STORE_DAY_MS + 1000, &more, &f->e));
    }
    assert_ok(fixture_step(f, store_commit_last_seq(f->store) + 1));
    fixture_close(f);
    fixture_flip(f, "log/00000001.seg", 16 + 45); /* one line of output */
    assert_ok(store_backup_restore(f->dir, f->other, NULL, &what, &f->e));
    assert_true(what.damaged);
    assert_ok(store_reader_open(f->other, &reader, &f->e));
    const struct store_usage_query query = {
        .by = USAGE_BY_USER, .since_ms = STORE_DAY_MS + 1, .until_ms = 2 * STORE_DAY_MS};
    read_usage(reader, &query, &answer, &said);
    assert_int_equal(said.exact_from_ms, 6 * STORE_DAY_MS);
    assert_int_equal(said.since_ms, STORE_DAY_MS);
    store_reader_close(reader);
}

static void sums_of_ten_years_ago_go(void **state)
{
    struct fixture *f = *state;
    struct store_reader *reader;
    struct answer answer;
    struct store_usage_said said;
    bool more = true;
    const struct store_use uses[] = {
        {.task = 1, .ending = USE_TRY, .user = str_of("ann"), .node = str_of("n1")},
        {.task = 2,
         .ending = USE_TRY,
         .begin_ms = 20 * STORE_DAY_MS,
         .end_ms = 20 * STORE_DAY_MS,
         .user = str_of("bob"),
         .node = str_of("n1")}};
    fixture_open(f);
    uses_put(f, uses, 2);
    while (more) {
        assert_ok(store_prune(f->store, (STORE_USAGE_KEEP_DAYS + 10) * STORE_DAY_MS, &more, &f->e));
    }
    assert_ok(store_reader_open(f->dir, &reader, &f->e));
    struct store_usage_query query = {.by = USAGE_BY_USER, .until_ms = 90 * STORE_DAY_MS};
    read_usage(reader, &query, &answer, &said);
    assert_int_equal(answer.count, 1);
    assert_string_equal(answer.rows[0].key, "bob");
    assert_int_equal(said.first_ms, 20 * STORE_DAY_MS);
    query.by = USAGE_BY_NODE;
    read_usage(reader, &query, &answer, &said);
    assert_int_equal(answer.rows[0].sums[USAGE_TRIES], 1);
    store_reader_close(reader);
}

static void huge_amounts_stay_in_bounds(void **state)
{
    struct fixture *f = *state;
    struct store_reader *reader;
    struct answer answer;
    struct store_usage_said said;
    struct store_use use = {.ending = USE_TRY,
                            .end_ms = STORE_DAY_MS - 1,
                            .lost_from_ms = STORE_DAY_MS - 1,
                            .slots_milli = INT64_MAX,
                            .asked = STORE_USAGE_AMOUNT_MAX,
                            .user = str_of("ann")};
    fixture_open(f);
    for (use.task = 1; use.task < 30; use.task++) {
        uses_put(f, &use, 1);
    }
    assert_ok(store_reader_open(f->dir, &reader, &f->e));
    const struct store_usage_query query = {.by = USAGE_BY_USER, .until_ms = STORE_DAY_MS};
    read_usage(reader, &query, &answer, &said);
    assert_true(answer.rows[0].sums[USAGE_ASKED] >= 9 * STORE_USAGE_AMOUNT_MAX);
    assert_true(answer.rows[0].sums[USAGE_USED] >= 9 * STORE_USAGE_AMOUNT_MAX);
    store_reader_close(reader);
}

static void no_reading_scans(void **state)
{
    static const enum read_stmt stmts[] = {READ_USAGE, READ_USAGE_NODE, READ_USAGE_FIRST,
                                           READ_TIMELINE, READ_TIMELINE_ROWS};
    struct fixture *f = *state;
    struct store_reader *reader;
    fixture_open(f);
    assert_ok(store_reader_open(f->dir, &reader, &f->e));
    for (size_t i = 0; i < sizeof stmts / sizeof *stmts; i++) {
        struct buf sql;
        sqlite3_stmt *explain;
        buf_init(&sql, 10000);
        buf_addf(&sql, "EXPLAIN QUERY PLAN %s", sqlite3_sql(reader->stmt[stmts[i]]));
        assert_int_equal(sqlite3_prepare_v2(reader->db, buf_text(&sql), -1, &explain, NULL),
                         SQLITE_OK);
        while (sqlite3_step(explain) == SQLITE_ROW) {
            const char *line = (const char *)sqlite3_column_text(explain, 3);
            assert_null(strstr(line, "SCAN usage_"));
        }
        (void)sqlite3_finalize(explain);
        buf_done(&sql);
    }
    store_reader_close(reader);
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

/* A changed row of the accounting is found by the check, and no answer is made of it. A later use that is added to the
 * row does not hide the damage. */
static void a_changed_row_is_found_and_not_served(void **state)
{
    struct fixture *f = *state;
    static const char *const damage[] = {
        "UPDATE usage_day SET used = used + 1 WHERE day = 3",
        "UPDATE usage_node SET lost = lost + 1 WHERE day = 3",
        "UPDATE usage_piece SET end_ms = end_ms - 1 WHERE day = 3",
    };
    static const char *const names[] = {"what was used on 1970-01-04 in pool gpu is damaged",
                                        "what node n1 did on 1970-01-04 is damaged",
                                        "what attempt 7.0:1 used is damaged"};
    const struct store_usage_query queries[] = {
        {.by = USAGE_BY_POOL, .since_ms = 3 * STORE_DAY_MS, .until_ms = 4 * STORE_DAY_MS},
        {.by = USAGE_BY_NODE, .since_ms = 3 * STORE_DAY_MS, .until_ms = 4 * STORE_DAY_MS},
        {.by = USAGE_BY_POOL, .since_ms = 3 * STORE_DAY_MS + 1, .until_ms = 4 * STORE_DAY_MS},
    };
    struct store_use use = {.task = 7,
                            .attempt = 1,
                            .ending = USE_TRY,
                            .begin_ms = 3 * STORE_DAY_MS,
                            .end_ms = 3 * STORE_DAY_MS + HOUR_MS,
                            .lost_from_ms = 3 * STORE_DAY_MS,
                            .slots_milli = 1000,
                            .pool = str_of("gpu"),
                            .node = str_of("n1")};
    fixture_open(f);
    uses_put(f, &use, 1);
    use.task = 8;
    uses_put(f, &use, 1);
    for (size_t i = 0; i < sizeof damage / sizeof damage[0]; i++) {
        struct store_reader *reader;
        struct answer answer = {0};
        struct store_usage_said said;
        assert_ok(store_reader_open(f->dir, &reader, &f->e));
        read_usage(reader, &queries[i], &answer, &said);
        assert_int_equal(answer.count, 1);
        sql_run(f, damage[i]);
        use.task = 9 + i;
        uses_put(f, &use, 1);
        assert_int_equal(store_usage_read(reader, &queries[i], row_take, &answer, &said, &f->e),
                         ERR_CORRUPT);
        store_reader_close(reader);
        auto_free(freep) char *findings = fixture_findings(f, f->dir);
        assert_non_null(strstr(findings, names[i]));
    }
}

int main(void)
{
    const char *text = getenv("WEIR_SEED");
    seed = text != NULL ? strtoull(text, NULL, 10) : 1;
    const struct CMUnitTest tests[] = {
        store_test(a_changed_row_is_found_and_not_served),
        store_test(sums_between_any_moments_are_those_of_the_uses),
        store_test(days_come_in_order_and_add_up),
        store_test(a_later_attempt_has_waited_since_the_attempt_before),
        store_test(sums_outlive_the_pieces),
        store_test(a_restore_knows_which_days_are_exact),
        store_test(sums_of_ten_years_ago_go),
        store_test(huge_amounts_stay_in_bounds),
        store_test(no_reading_scans),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
