/* store_reader.c - a read-only connection: reads facts for resumed event streams, and output of
 * tasks. SPDX-License-Identifier: Apache-2.0 */
#include "store/sqlite/reader_internal.h"
#include "store/sqlite/store_usage_cost.h"
#include "store/sqlite/usage_sql.h"

#include "base/mem.h"
#include "store/datadir.h"
#include "store/sqlite/sum.h"

#include <inttypes.h>

/* Filters of history that need no index, because they skip few rows of the index in use. Parameter
 * 1 (the index's own) and parameter 2 (task below) stand before them. A `+` keeps SQLite from the index of
 * ended_ms, whose rows would have to be sorted. */
#define HISTORY_COLUMNS                                                                            \
    "SELECT task, submitted_ms, ended_ms, state, kind, pool, user, project, name, "                \
    "json, " SUM_HISTORY " "
#define HISTORY_REST                                                                               \
    "AND task < ?2 AND (?3 = 0 OR (?3 >> state) & 1) AND (?4 = 0 OR (?4 >> kind) & 1) "            \
    "AND +ended_ms > ?5 AND (?6 IS NULL OR pool = ?6) AND (?7 IS NULL OR user = ?7) "              \
    "AND (?8 IS NULL OR project = ?8) AND (?9 IS NULL OR name = ?9) AND +ended_ms < ?11 "          \
    "ORDER BY task DESC LIMIT ?10"

#define LOG_PIECES                                                                                 \
    "SELECT place, idx, attempt, stream, offset, length, time_ms, " SUM_CHUNK                      \
    " FROM log_chunk AS chunk "                                                                    \
    "INDEXED BY log_chunk_arrival WHERE task = ?1 AND place > ?2 AND (?3 < 0 OR idx = ?3) "        \
    "AND (?5 = 0 OR stream = ?5) AND (?4 < 0 OR attempt = ?4 OR (?4 = 0 AND attempt = "            \
    "(SELECT max(attempt) FROM log_chunk WHERE task = ?1 AND idx = chunk.idx))) "                  \
    "AND time_ms >= ?6 "

/* INDEXED BY makes a statement fail rather than scan. The unit tests look at each plan. */
static const char *const read_sql[READ_STMT_COUNT] = {
    [READ_FACT_FIRST] = "SELECT min(seq) FROM fact",
    [READ_FACT_LAST] = "SELECT max(seq) FROM fact",
    [READ_FACT_TIME] = "SELECT time_ms FROM fact WHERE seq = ?1",
    [READ_SNAPSHOT_CRC] = "SELECT crc FROM snapshot WHERE seq = ?1 AND " SUM_SNAPSHOT,
    [READ_FACT_PAGE] = "SELECT seq, time_ms, type, body, sum FROM fact WHERE seq > ?1 "
                       "ORDER BY seq LIMIT ?2",
    [READ_HISTORY_GET] = HISTORY_COLUMNS "FROM history WHERE task = ?1",
    [READ_HISTORY_ALL] = HISTORY_COLUMNS "FROM history WHERE ?1 IS NULL " HISTORY_REST,
    [READ_HISTORY_RECENT] = HISTORY_COLUMNS
    "FROM history WHERE task >= (SELECT min(task) FROM history "
    "INDEXED BY history_ended WHERE ended_ms > ?1 AND ended_ms < ?11) " HISTORY_REST,
    [READ_HISTORY_LAST] = "SELECT max(task) FROM history INDEXED BY history_ended "
                          "WHERE ended_ms < ?1 AND ended_ms > ?2",
    [READ_HISTORY_POOL] =
        HISTORY_COLUMNS "FROM history INDEXED BY history_pool WHERE pool = ?1 " HISTORY_REST,
    [READ_HISTORY_USER] =
        HISTORY_COLUMNS "FROM history INDEXED BY history_user WHERE user = ?1 " HISTORY_REST,
    [READ_HISTORY_PROJECT] =
        HISTORY_COLUMNS "FROM history INDEXED BY history_project WHERE project = ?1 " HISTORY_REST,
    [READ_HISTORY_NAME] = HISTORY_COLUMNS "FROM history INDEXED BY history_name "
                                          "WHERE name = ?1 AND name <> '' " HISTORY_REST,
    [READ_HISTORY_STATE] =
        "SELECT task FROM history INDEXED BY history_state WHERE state = ?1 " HISTORY_REST,
    [READ_ATTEMPTS] = "SELECT idx, attempt, json, " SUM_ATTEMPT " FROM attempt WHERE task = ?1 "
                      "ORDER BY idx, attempt LIMIT ?2",
    /* Parameter `attempt`: -1 all attempts, 0 the newest of the instance, else this attempt. */
    [READ_LOG] = LOG_PIECES "ORDER BY place",
    [READ_LOG_BACK] = LOG_PIECES "ORDER BY place DESC",
    [READ_LOG_HAS] = "SELECT count(*) FROM log_chunk INDEXED BY log_chunk_arrival "
                     "WHERE task = ?1 AND place = ?2",
    [READ_USAGE] = USAGE_READ,
    [READ_USAGE_NODE] = USAGE_READ_NODE,
    [READ_USAGE_FIRST] = "SELECT min(day) FROM usage_day",
    [READ_USAGE_EXACT] = "SELECT CAST(value AS INTEGER) FROM meta WHERE key = 'usage_pieces_from'",
    [READ_TIMELINE] = TIMELINE_READ,
    [READ_TIMELINE_ROWS] = TIMELINE_ROWS,
};

enum err store_reader_open(const char *dir, struct store_reader **ret, struct error *e)
{
    enum err r = datadir_valid(dir, e);
    if (r == ERR_OK) {
        r = datadir_has_db(dir, e);
    }
    if (r != ERR_OK) {
        return r;
    }
    struct store_reader *reader = xcalloc(1, sizeof *reader);
    reader->dir = xstrdup(dir);
    reader->logs = logstore_reader_new(dir);
    r = db_open(dir, DB_READ, &reader->db, e);
    r = r == ERR_OK ? store_usage_cost_init(reader, e) : r;
    if (r == ERR_OK) {
        r = db_prepare(reader->db, read_sql, READ_STMT_COUNT, reader->stmt, e);
    }
    if (r != ERR_OK) {
        store_reader_close(reader);
        return r;
    }
    *ret = reader;
    return ERR_OK;
}

void store_reader_close(struct store_reader *reader)
{
    if (reader == NULL) {
        return;
    }
    db_finalize(reader->stmt, READ_STMT_COUNT);
    (void)sqlite3_close(reader->db);
    logstore_reader_free(reader->logs);
    free(reader->dir);
    free(reader);
}

static enum err page_give(struct store_reader *reader, uint64_t after, store_fact_fn fn, void *ctx,
                          struct error *e)
{
    sqlite3_stmt *stmt = reader->stmt[READ_FACT_PAGE];
    uint32_t sum = 0;
    for (;;) {
        bool row;
        enum err r = db_row(stmt, &row, "read facts", e);
        if (r != ERR_OK || !row) {
            return r;
        }
        struct store_fact fact = sum_fact_row(stmt);
        const uint64_t fact_sum = db_u64(stmt, 4);
        r = sum_fact_next(reader->dir, after, sum, &fact, fact_sum, e);
        r = r == ERR_OK ? fn(ctx, &fact, e) : r;
        if (r != ERR_OK) {
            return r;
        }
        after = fact.seq;
        sum = sum_own(fact_sum);
    }
}

enum err store_reader_facts(struct store_reader *reader, uint64_t after, size_t limit,
                            store_fact_fn fn, void *ctx, struct error *e)
{
    int64_t first;
    enum err r = db_number(reader->stmt[READ_FACT_FIRST], 0, &first, e);
    if (r != ERR_OK) {
        return r;
    }
    if (first > 0 && after < (uint64_t)first - 1) {
        return fail(e, ERR_NOT_FOUND, "facts before %" PRId64 " are no longer kept", first);
    }
    sqlite3_stmt *stmt = reader->stmt[READ_FACT_PAGE];
    db_bind_u64(stmt, 1, after < INT64_MAX ? after : INT64_MAX);
    db_bind_u64(stmt, 2, limit < INT32_MAX ? limit : INT32_MAX);
    r = page_give(reader, after, fn, ctx, e);
    (void)sqlite3_reset(stmt);
    return r;
}

/* Reads the current row of the statement and its data. */
static enum err piece_read(struct store_reader *reader, sqlite3_stmt *stmt, uint64_t task,
                           struct arena *arena, struct store_log_piece *ret, struct error *e)
{
    struct store_log_piece piece = {.number = db_u64(stmt, 0),
                                    .index = (uint32_t)db_u64(stmt, 1),
                                    .attempt = (uint32_t)db_u64(stmt, 2),
                                    .stream = (uint32_t)db_u64(stmt, 3),
                                    .offset = db_u64(stmt, 4),
                                    .time_ms = sqlite3_column_int64(stmt, 6)};
    struct log_ref ref = {.place = piece.number,
                          .key = {.task = task,
                                  .offset = piece.offset,
                                  .index = piece.index,
                                  .attempt = piece.attempt,
                                  .stream = piece.stream},
                          .len = db_u64(stmt, 5)};
    if (db_u64(stmt, 7) != 1) {
        return fail(e, ERR_CORRUPT,
                    "the index of the output of task %" PRIu64 " in '%.80s/weir.db' is damaged: "
                    "`weir db check` says more",
                    task, reader->dir);
    }
    enum err r = logstore_reader_read(reader->logs, &ref, arena, &piece.data, e);
    if (r == ERR_OK) {
        *ret = piece;
    }
    return r;
}

/* `*missing`: the first piece whose segment is not there; 0: none. */
static enum err pieces_give(struct store_reader *reader, const struct store_log_filter *filter,
                            struct arena *arena, uint64_t *missing, store_log_fn fn, void *ctx,
                            struct error *e)
{
    sqlite3_stmt *stmt = reader->stmt[READ_LOG];
    size_t given = 0;
    for (;;) {
        bool row;
        enum err r = db_row(stmt, &row, "read the log index", e);
        if (r != ERR_OK || !row) {
            return r;
        }
        size_t len = db_u64(stmt, 5);
        if (given > 0 && (given >= filter->bytes_max || len > filter->bytes_max - given)) {
            return ERR_OK;
        }
        struct store_log_piece piece;
        r = piece_read(reader, stmt, filter->task, arena, &piece, e);
        if (r == ERR_NOT_FOUND) {
            *missing = *missing == 0 ? db_u64(stmt, 0) : *missing;
            continue;
        }
        if (r != ERR_OK) {
            return r;
        }
        fn(ctx, &piece);
        given += len;
    }
}

static void log_bind(sqlite3_stmt *stmt, const struct store_log_filter *filter)
{
    db_bind_u64(stmt, 1, filter->task);
    db_bind_u64(stmt, 2, filter->after);
    db_bind_i64(stmt, 3, filter->index);
    db_bind_i64(stmt, 4, filter->attempt);
    db_bind_i64(stmt, 5, filter->stream);
    db_bind_i64(stmt, 6, filter->since_ms);
}

/* A segment may be pruned between the reading of the index and that of the file. Then its rows are gone
 * by now; else the file is lost. */
static enum err missing_judge(struct store_reader *reader, uint64_t task, uint64_t place,
                              struct error *e)
{
    sqlite3_stmt *stmt = reader->stmt[READ_LOG_HAS];
    int64_t has;
    db_bind_u64(stmt, 1, task);
    db_bind_u64(stmt, 2, place);
    enum err r = db_number(stmt, 0, &has, e);
    if (r != ERR_OK || has == 0) {
        return r;
    }
    return fail(e, ERR_CORRUPT, "output of task %" PRIu64 " is lost: log segment '%s' is missing",
                task, datadir_segment(reader->dir, log_place_segment(place)).text);
}

enum err store_reader_logs(struct store_reader *reader, const struct store_log_filter *filter,
                           struct arena *arena, store_log_fn fn, void *ctx, struct error *e)
{
    if (filter->task > INT64_MAX || filter->after > INT64_MAX) {
        return ERR_OK; /* no record has such a number */
    }
    uint64_t missing = 0;
    log_bind(reader->stmt[READ_LOG], filter);
    enum err r = pieces_give(reader, filter, arena, &missing, fn, ctx, e);
    (void)sqlite3_reset(reader->stmt[READ_LOG]);
    return r == ERR_OK && missing != 0 ? missing_judge(reader, filter->task, missing, e) : r;
}

/* Looks from the end of the piece for the line feed before the `*lines`-th line from the end. True:
 * *ret_skip is the byte behind that line feed. A line feed at the very end of the output ends a line
 * and begins none. */
static bool lines_count(struct str data, bool last, uint64_t *lines, size_t *ret_skip)
{
    for (size_t at = data.len; at > 0; at--) {
        const bool feed = data.p[at - 1] == '\n' && !(last && at == data.len);
        if (feed && --*lines == 0) {
            *ret_skip = at;
            return true;
        }
    }
    return false;
}

enum err store_reader_log_tail(struct store_reader *reader, const struct store_log_filter *filter,
                               uint64_t lines, uint64_t *ret_after, size_t *ret_skip,
                               struct error *e)
{
    sqlite3_stmt *stmt = reader->stmt[READ_LOG_BACK];
    struct arena arena;
    size_t looked = 0;
    bool found = false;
    bool row = filter->task <= INT64_MAX;
    enum err r = ERR_OK;
    *ret_after = filter->after;
    *ret_skip = 0;
    arena_init(&arena);
    log_bind(stmt, filter);
    while (r == ERR_OK && row && !found && looked < STORE_TAIL_BYTES_MAX) {
        struct store_log_piece piece;
        r = db_row(stmt, &row, "read the log index", e);
        if (r != ERR_OK || !row) {
            break;
        }
        arena_clear(&arena);
        r = piece_read(reader, stmt, filter->task, &arena, &piece, e);
        if (r == ERR_NOT_FOUND) {
            r = ERR_OK; /* the segment was pruned after the index was read */
            continue;
        }
        if (r == ERR_OK && lines == 0) {
            *ret_after = piece.number;
            break;
        }
        if (r == ERR_OK) {
            found = lines_count(piece.data, looked == 0, &lines, ret_skip);
            looked += piece.data.len;
            *ret_after = piece.number - 1;
        }
    }
    (void)sqlite3_reset(stmt);
    arena_done(&arena);
    return r;
}
