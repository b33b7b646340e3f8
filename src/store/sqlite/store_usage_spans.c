/* store_usage_spans.c - reads the attempts that held a place between two moments, from the pieces of the accounting.
 * SPDX-License-Identifier: Apache-2.0 */
#include "store/sqlite/reader_internal.h"
#include "store/store_usage.h"

/* Columns of READ_TIMELINE. */
enum {
    AT_TASK,
    AT_INDEX,
    AT_ATTEMPT,
    AT_BEGIN,
    AT_END,
    AT_LOST,
    AT_ENDING,
    AT_SLOTS,
    AT_POOL,
    AT_USER,
    AT_PROJECT,
    AT_NODE,
    AT_WHOLE,
    AT_WAITED,
};

static enum err rows_counted(struct store_reader *reader, const struct store_span_query *query,
                             bool *ret_more, struct error *e)
{
    int64_t rows;
    sqlite3_stmt *stmt = reader->stmt[READ_TIMELINE_ROWS];
    db_bind_i64(stmt, 1, query->since_ms / STORE_DAY_MS);
    db_bind_i64(stmt, 2, query->until_ms / STORE_DAY_MS);
    db_bind_i64(stmt, 3, STORE_SPAN_LOOKED_MAX + 1);
    const enum err r = db_number(stmt, 0, &rows, e);
    *ret_more = r == ERR_OK && rows > STORE_SPAN_LOOKED_MAX;
    return r;
}

static struct store_span span_of(sqlite3_stmt *stmt)
{
    return (struct store_span){.task = db_u64(stmt, AT_TASK),
                               .index = (uint32_t)db_u64(stmt, AT_INDEX),
                               .attempt = (uint32_t)db_u64(stmt, AT_ATTEMPT),
                               .begin_ms = sqlite3_column_int64(stmt, AT_BEGIN),
                               .end_ms = sqlite3_column_int64(stmt, AT_END),
                               .lost_ms = sqlite3_column_int64(stmt, AT_LOST),
                               .waited_ms = sqlite3_column_int64(stmt, AT_WAITED),
                               .ending = (enum store_use_end)db_u64(stmt, AT_ENDING),
                               .slots_milli = sqlite3_column_int64(stmt, AT_SLOTS),
                               .pool = db_str(stmt, AT_POOL),
                               .user = db_str(stmt, AT_USER),
                               .project = db_str(stmt, AT_PROJECT),
                               .node = db_str(stmt, AT_NODE)};
}

enum err store_usage_spans(struct store_reader *reader, const struct store_span_query *query,
                           store_span_fn fn, void *ctx, bool *ret_more, struct error *e)
{
    must(query->since_ms >= 0);
    must(query->until_ms >= query->since_ms);
    enum err r = rows_counted(reader, query, ret_more, e);
    sqlite3_stmt *stmt = reader->stmt[READ_TIMELINE];
    db_bind_i64(stmt, 1, query->since_ms / STORE_DAY_MS);
    db_bind_i64(stmt, 2, query->until_ms / STORE_DAY_MS);
    db_bind_i64(stmt, 3, query->since_ms);
    db_bind_i64(stmt, 4, query->until_ms);
    db_bind_text_or_null(stmt, 5, query->pool);
    db_bind_text_or_null(stmt, 6, query->node);
    db_bind_i64(stmt, 7, STORE_SPAN_LOOKED_MAX);
    db_bind_i64(stmt, 8, (int64_t)query->limit + 1);
    for (size_t count = 0; r == ERR_OK; count++) {
        bool row;
        r = db_row(stmt, &row, "read the timeline", e);
        if (r != ERR_OK || !row) {
            return r;
        }
        if (count == query->limit) {
            *ret_more = true;
            (void)sqlite3_reset(stmt);
            return ERR_OK;
        }
        if (db_u64(stmt, AT_WHOLE) != 1) {
            (void)sqlite3_reset(stmt);
            return fail(
                e, ERR_CORRUPT,
                "a row of the accounting is damaged; `weir db check` names it, and `weir db "
                "restore` goes on without it");
        }
        const struct store_span span = span_of(stmt);
        fn(ctx, &span);
    }
    return r;
}
