/* store_usage_read.c - reads sums of use between two moments: whole days from the sums of days, the part of
 * a day at either end from the pieces of that day. The cost grows with the days asked for, not with the tasks
 * in the history. SPDX-License-Identifier: Apache-2.0 */
#include "store/sqlite/reader_internal.h"
#include "store/store_usage.h"

#include "base/map.h"
#include "base/mem.h"

/* Days whose sums are read: [first, after). Days whose pieces are read; -1: none. */
struct usage_days {
    int64_t first;
    int64_t after;
    int64_t head;
    int64_t tail;
};

/* A part of a day counts as the whole day where the pieces of the day are gone. */
static struct usage_days days_choose(const struct store_usage_query *query, int64_t exact_from,
                                     struct store_usage_said *said)
{
    const int64_t since_day = query->since_ms / STORE_DAY_MS;
    const int64_t until_day = query->until_ms / STORE_DAY_MS;
    const bool head = query->since_ms % STORE_DAY_MS != 0;
    const bool tail = query->until_ms % STORE_DAY_MS != 0;
    struct usage_days days = {.first = since_day, .after = until_day, .head = -1, .tail = -1};
    said->since_ms = query->since_ms;
    said->until_ms = query->until_ms;
    if (head && since_day >= exact_from) {
        days.head = since_day;
        days.first = since_day + 1;
    } else {
        said->since_ms = since_day * STORE_DAY_MS;
    }
    if (tail && until_day >= exact_from) {
        days.tail = until_day;
    } else if (tail) {
        days.after = until_day + 1;
        said->until_ms = days.after * STORE_DAY_MS;
    }
    return days;
}

static void query_bind(sqlite3_stmt *stmt, const struct store_usage_query *query,
                       const struct usage_days *days, const struct store_usage_said *said)
{
    db_bind_i64(stmt, 1, query->by);
    db_bind_i64(stmt, 2, days->first);
    db_bind_i64(stmt, 3, days->after);
    db_bind_i64(stmt, 4, days->head);
    db_bind_i64(stmt, 5, days->tail);
    db_bind_i64(stmt, 6, said->since_ms);
    db_bind_i64(stmt, 7, said->until_ms);
    db_bind_text_or_null(stmt, 8, query->pool);
    db_bind_i64(stmt, 9, STORE_USAGE_ROWS_MAX + 1);
    if (query->by != USAGE_BY_NODE) {
        db_bind_text_or_null(stmt, 10, query->user);
        db_bind_text_or_null(stmt, 11, query->project);
    }
}

static enum err rows_give(sqlite3_stmt *stmt, const struct store_usage_query *query,
                          store_usage_fn fn, void *ctx, bool *ret_more, struct error *e)
{
    const bool named = query->by != USAGE_BY_KIND && query->by != USAGE_BY_DAY;
    for (size_t count = 0;; count++) {
        bool row;
        enum err r = db_row(stmt, &row, "read the accounting", e);
        if (r != ERR_OK || !row) {
            return r;
        }
        if (count == STORE_USAGE_ROWS_MAX) {
            *ret_more = true;
            (void)sqlite3_reset(stmt);
            return ERR_OK;
        }
        struct store_usage_row out = {.key = named ? db_str(stmt, 0) : (struct str){"", 0},
                                      .number = named ? 0 : sqlite3_column_int64(stmt, 0)};
        for (int i = 0; i < USAGE_SUM_COUNT; i++) {
            out.sums[i] = sqlite3_column_int64(stmt, 1 + i);
        }
        const struct str costs = db_str(stmt, 1 + USAGE_SUM_COUNT);
        must(costs.len == sizeof out.costs);
        memcpy(out.costs, costs.p, sizeof out.costs);
        if (sqlite3_column_int64(stmt, 2 + USAGE_SUM_COUNT) != 1) {
            (void)sqlite3_reset(stmt);
            return fail(
                e, ERR_CORRUPT,
                "a row of the accounting is damaged; `weir db check` names it, and `weir db "
                "restore` goes on without it");
        }
        fn(ctx, &out);
    }
}

enum err store_usage_read(struct store_reader *reader, const struct store_usage_query *query,
                          store_usage_fn fn, void *ctx, struct store_usage_said *ret,
                          struct error *e)
{
    must(query->since_ms >= 0);
    must(query->until_ms >= query->since_ms);
    int64_t exact_from;
    int64_t first;
    enum err r = db_number(reader->stmt[READ_USAGE_EXACT], 0, &exact_from, e);
    if (r == ERR_OK) {
        r = db_number(reader->stmt[READ_USAGE_FIRST], 0, &first, e);
    }
    if (r != ERR_OK) {
        return r;
    }
    *ret = (struct store_usage_said){.first_ms = first * STORE_DAY_MS,
                                     .exact_from_ms = exact_from * STORE_DAY_MS};
    const struct usage_days days = days_choose(query, exact_from, ret);
    sqlite3_stmt *stmt = reader->stmt[query->by == USAGE_BY_NODE ? READ_USAGE_NODE : READ_USAGE];
    query_bind(stmt, query, &days, ret);
    reader->prices = map_new();
    for (size_t i = 0; i < query->price_count; i++) {
        const struct store_usage_price *price = &query->prices[i];
        must(price->node_slots > 0);
        must(price->currency < STORE_USAGE_CURRENCIES_MAX);
        (void)map_put(reader->prices, price->pool, strlen(price->pool), (void *)(uintptr_t)price);
    }
    r = rows_give(stmt, query, fn, ctx, &ret->more, e);
    map_free(steal(reader->prices));
    return r;
}
