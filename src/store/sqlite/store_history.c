/* store_history.c - reads ended tasks: one task, or a page by filter, newest first.
 *
 * Every list walks one index in order of task ids and needs no sort. The index belongs to the
 * filter that usually leaves the fewest rows. Only a filter by states alone works otherwise: it
 * merges one page of ids per state. SPDX-License-Identifier: Apache-2.0 */
#include "store/sqlite/reader_internal.h"

#include "base/log.h"
#include "base/vec.h"

#include <inttypes.h>

struct id_list {
    uint64_t *at;
    size_t count;
    size_t room;
};

static struct store_history row_of(sqlite3_stmt *stmt)
{
    return (struct store_history){.task = db_u64(stmt, 0),
                                  .submitted_ms = sqlite3_column_int64(stmt, 1),
                                  .ended_ms = sqlite3_column_int64(stmt, 2),
                                  .state = (uint32_t)db_u64(stmt, 3),
                                  .kind = (uint32_t)db_u64(stmt, 4),
                                  .pool = db_str(stmt, 5),
                                  .user = db_str(stmt, 6),
                                  .project = db_str(stmt, 7),
                                  .name = db_str(stmt, 8),
                                  .json = db_str(stmt, 9)};
}

enum { HISTORY_SUM = 10, ATTEMPT_SUM = 3 }; /* columns: does the checksum fit? */

static bool row_whole(sqlite3_stmt *stmt)
{
    return db_u64(stmt, HISTORY_SUM) == 1;
}

static enum err row_fail(const struct store_reader *reader, uint64_t task, struct error *e)
{
    return fail(e, ERR_CORRUPT,
                "the history of task %" PRIu64 " in '%.80s/weir.db' is damaged: `weir db check` "
                "says more, `weir db restore` brings a backup back",
                task, reader->dir);
}

enum err store_history_get(struct store_reader *reader, uint64_t task, struct arena *arena,
                           struct str *ret_json, struct error *e)
{
    if (task > INT64_MAX) {
        return fail(e, ERR_NOT_FOUND, "no task %" PRIu64, task);
    }
    sqlite3_stmt *stmt = reader->stmt[READ_HISTORY_GET];
    db_bind_u64(stmt, 1, task);
    bool row;
    enum err r = db_row(stmt, &row, "read history", e);
    if (r != ERR_OK) {
        return r;
    }
    if (!row) {
        return fail(e, ERR_NOT_FOUND, "no task %" PRIu64, task);
    }
    struct str json = row_of(stmt).json;
    *ret_json = (struct str){arena_strn(arena, json.p, json.len), json.len};
    r = row_whole(stmt) ? ERR_OK : row_fail(reader, task, e);
    (void)sqlite3_reset(stmt);
    return r;
}

enum err store_history_attempts(struct store_reader *reader, uint64_t task, store_attempt_fn fn,
                                void *ctx, struct error *e)
{
    if (task > INT64_MAX) {
        return ERR_OK; /* no task has such a number */
    }
    sqlite3_stmt *stmt = reader->stmt[READ_ATTEMPTS];
    db_bind_u64(stmt, 1, task);
    db_bind_i64(stmt, 2, STORE_ATTEMPTS_MAX);
    for (;;) {
        bool row;
        enum err r = db_row(stmt, &row, "read attempts", e);
        if (r != ERR_OK || !row) {
            return r;
        }
        struct store_attempt attempt = {.task = task,
                                        .index = (uint32_t)db_u64(stmt, 0),
                                        .attempt = (uint32_t)db_u64(stmt, 1),
                                        .json = db_str(stmt, 2)};
        if (db_u64(stmt, ATTEMPT_SUM) != 1) {
            (void)sqlite3_reset(stmt);
            return row_fail(reader, task, e);
        }
        fn(ctx, &attempt);
    }
}

static size_t page_limit(const struct store_history_filter *filter)
{
    return filter->limit < STORE_HISTORY_PAGE_MAX ? filter->limit : STORE_HISTORY_PAGE_MAX;
}

/* Binds parameters 2 to 11, which are the same in every list. */
static void filter_bind(sqlite3_stmt *stmt, const struct store_history_filter *filter)
{
    bool any = filter->before == 0 || filter->before > INT64_MAX;
    db_bind_i64(stmt, 2, any ? INT64_MAX : (int64_t)filter->before);
    db_bind_i64(stmt, 3, (int64_t)filter->states);
    db_bind_i64(stmt, 4, (int64_t)filter->kinds);
    db_bind_i64(stmt, 5, filter->ended_after_ms != 0 ? filter->ended_after_ms : INT64_MIN);
    db_bind_text_or_null(stmt, 6, filter->pool);
    db_bind_text_or_null(stmt, 7, filter->user);
    db_bind_text_or_null(stmt, 8, filter->project);
    db_bind_text_or_null(stmt, 9, filter->name);
    db_bind_u64(stmt, 10, page_limit(filter));
    db_bind_i64(stmt, 11, filter->ended_before_ms != 0 ? filter->ended_before_ms : INT64_MAX);
}

/* Chooses the statement whose index serves the filter best, and binds the index's own parameter. */
static sqlite3_stmt *list_choose(struct store_reader *reader,
                                 const struct store_history_filter *filter)
{
    const struct {
        const char *value;
        enum read_stmt stmt;
    } choices[] = {
        {filter->name != NULL && filter->name[0] != '\0' ? filter->name : NULL, READ_HISTORY_NAME},
        {filter->user, READ_HISTORY_USER},
        {filter->project, READ_HISTORY_PROJECT},
        {filter->pool, READ_HISTORY_POOL},
    };
    for (size_t i = 0; i < sizeof choices / sizeof choices[0]; i++) {
        if (choices[i].value != NULL) {
            sqlite3_stmt *stmt = reader->stmt[choices[i].stmt];
            db_bind_text(stmt, 1, str_of(choices[i].value));
            return stmt;
        }
    }
    if (filter->ended_after_ms != 0) {
        db_bind_i64(reader->stmt[READ_HISTORY_RECENT], 1, filter->ended_after_ms);
        return reader->stmt[READ_HISTORY_RECENT];
    }
    (void)sqlite3_bind_null(reader->stmt[READ_HISTORY_ALL], 1);
    return reader->stmt[READ_HISTORY_ALL];
}

static enum err rows_give(sqlite3_stmt *stmt, store_history_fn fn, void *ctx, struct error *e)
{
    for (;;) {
        bool row;
        enum err r = db_row(stmt, &row, "read history", e);
        if (r != ERR_OK || !row) {
            return r;
        }
        struct store_history history = row_of(stmt);
        if (row_whole(stmt)) {
            fn(ctx, &history);
        } else { /* one damaged row must not hide all others */
            log_error("a list leaves out an ended task, because its row is damaged",
                      kv_u64("task", history.task));
        }
    }
}

static enum err state_collect(struct store_reader *reader,
                              const struct store_history_filter *filter, int state,
                              struct id_list *ids, struct error *e)
{
    sqlite3_stmt *stmt = reader->stmt[READ_HISTORY_STATE];
    db_bind_i64(stmt, 1, state);
    filter_bind(stmt, filter);
    for (;;) {
        bool row;
        enum err r = db_row(stmt, &row, "read history", e);
        if (r != ERR_OK || !row) {
            return r;
        }
        vec_push(ids, db_u64(stmt, 0));
    }
}

static int newest_first(const void *a, const void *b)
{
    const uint64_t *x = a;
    const uint64_t *y = b;
    return (*x < *y) - (*x > *y);
}

static enum err states_list(struct store_reader *reader, const struct store_history_filter *filter,
                            store_history_fn fn, void *ctx, struct error *e)
{
    struct id_list ids = {0};
    enum err r = ERR_OK;
    for (int state = 0; r == ERR_OK && state < 64; state++) {
        if ((filter->states >> state & 1) != 0) {
            r = state_collect(reader, filter, state, &ids, e);
        }
    }
    if (ids.count > 1) {
        qsort(ids.at, ids.count, sizeof *ids.at, newest_first);
    }
    sqlite3_stmt *get = reader->stmt[READ_HISTORY_GET];
    for (size_t i = 0; r == ERR_OK && i < ids.count && i < page_limit(filter); i++) {
        db_bind_u64(get, 1, ids.at[i]);
        r = rows_give(get, fn, ctx, e);
    }
    vec_done(&ids);
    return r;
}

/* Bounds the task ids of a list of tasks that ended before a moment. Without the bound, the list would walk
 * through all later tasks first. */
static enum err last_bound(struct store_reader *reader, struct store_history_filter *filter,
                           struct error *e)
{
    sqlite3_stmt *stmt = reader->stmt[READ_HISTORY_LAST];
    int64_t last;
    db_bind_i64(stmt, 1, filter->ended_before_ms);
    db_bind_i64(stmt, 2, filter->ended_after_ms != 0 ? filter->ended_after_ms : INT64_MIN);
    enum err r = db_number(stmt, 0, &last, e);
    if (r == ERR_OK && (filter->before == 0 || filter->before > (uint64_t)last + 1)) {
        filter->before = (uint64_t)last + 1;
    }
    return r;
}

enum err store_history_list(struct store_reader *reader, const struct store_history_filter *asked,
                            store_history_fn fn, void *ctx, struct error *e)
{
    struct store_history_filter bounded = *asked;
    const struct store_history_filter *filter = &bounded;
    if (asked->ended_before_ms != 0) {
        enum err r = last_bound(reader, &bounded, e);
        if (r != ERR_OK) {
            return r;
        }
    }
    bool only_states = filter->states != 0 && filter->pool == NULL && filter->user == NULL &&
                       filter->project == NULL && filter->name == NULL;
    if (only_states) {
        return states_list(reader, filter, fn, ctx, e);
    }
    sqlite3_stmt *stmt = list_choose(reader, filter);
    filter_bind(stmt, filter);
    return rows_give(stmt, fn, ctx, e);
}
