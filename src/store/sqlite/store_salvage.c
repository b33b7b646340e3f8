/* store_salvage.c - `weir db restore` of a damaged directory: takes what can be proven, and leaves the
 * damaged directory as it is.
 *
 * The state goes to the newest point that can be proven: a whole snapshot (or the beginning), and the
 * chain of facts behind it up to the first damaged or missing one. Of the other tables every row with
 * the right checksum is taken, and output whose record is whole. Where facts are lost, what happened
 * after the point stays out. The new directory is made in DIR/restoring and moved into place, the
 * database last. SPDX-License-Identifier: Apache-2.0 */
#include "store/sqlite/store_salvage.h"

#include "base/mem.h"
#include "base/vec.h"
#include "store/datadir.h"
#include "store/file.h"
#include "store/sqlite/meta.h"
#include "store/sqlite/store_internal.h"
#include "store/store_snapshot.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

enum { ROWS_PER_COMMIT = 5000 };

struct salvage {
    const char *from;
    char work[DATADIR_PATH_MAX]; /* DIR/restoring */
    sqlite3 *source;             /* NULL: it cannot be opened */
    sqlite3 *target;
    store_decode_fn decode;
    uint64_t base; /* the snapshot that the state begins with; 0: none */
    int64_t until_ms;
    struct store_restored *result;
};

/* ---- the newest point that can be proven ---- */

struct reach {
    uint64_t seq; /* the last proven fact; the base itself where no fact follows */
    int64_t time_ms;
};

/* Follows the chain from fact `base` on. Fact `base` itself is only the anchor: the snapshot has its
 * effect. */
static enum err chain_follow(sqlite3 *source, uint64_t base, struct reach *ret, struct error *e)
{
    static const char *const sql =
        "SELECT seq, time_ms, type, body, sum FROM fact WHERE seq >= ?1 ORDER BY seq";
    sqlite3_stmt *stmt;
    uint32_t own = 0;
    enum err r = db_prepare(source, &sql, 1, &stmt, e);
    *ret = (struct reach){base, INT64_MAX};
    if (r != ERR_OK) {
        return r;
    }
    db_bind_u64(stmt, 1, base);
    for (bool row = true; row;) {
        r = db_row(stmt, &row, "read facts", e);
        if (!row) {
            break;
        }
        struct store_fact fact = sum_fact_row(stmt);
        const uint64_t sum = db_u64(stmt, 4);
        const bool right = sum_fact_right(sum, &fact);
        const bool anchor = fact.seq == base;
        if (!anchor &&
            (!right || fact.seq != ret->seq + 1 || (own != 0 && sum_before(sum) != own))) {
            break;
        }
        own = right ? sum_own(sum) : 0;
        *ret = (struct reach){fact.seq, right ? fact.time_ms : INT64_MAX};
    }
    db_finalize(&stmt, 1);
    return r == ERR_CORRUPT ? ERR_OK : r; /* an unreadable page ends the chain */
}

static bool snapshot_whole(const struct salvage *s, uint64_t seq)
{
    struct arena arena;
    struct str bytes;
    arena_init(&arena);
    enum err r = store_snapshot_read(s->from, seq, -1, &arena, &bytes, NULL);
    r = r == ERR_OK && s->decode != NULL ? s->decode(bytes, NULL) : r;
    arena_done(&arena);
    return r == ERR_OK;
}

/* Tries the beginning and every whole snapshot, oldest first: of equal points the longest chain wins.
 * *wholes gets the numbers of the whole snapshots. */
static enum err point_find(struct salvage *s, struct datadir_numbers *wholes, struct reach *best,
                           struct error *e)
{
    struct datadir_numbers numbers = {0};
    enum err r = datadir_list(s->from, "snapshot", ".snap", &numbers, e);
    *best = (struct reach){0, INT64_MAX};
    if (r == ERR_OK && s->source != NULL) {
        r = chain_follow(s->source, 0, best, e);
    }
    for (size_t i = 0; r == ERR_OK && i < numbers.count; i++) {
        struct reach reach = {numbers.at[i], INT64_MAX};
        if (!snapshot_whole(s, numbers.at[i])) {
            continue;
        }
        vec_push(wholes, numbers.at[i]);
        r = s->source != NULL ? chain_follow(s->source, numbers.at[i], &reach, e) : r;
        if (r == ERR_OK && reach.seq > best->seq) {
            *best = reach;
            s->base = numbers.at[i];
        }
    }
    vec_done(&numbers);
    return r;
}

/* ---- rows ---- */

/* How the rows of a table are taken: `?1` of both selects is the time behind which rows stay out. The
 * last column says whether the row is whole. Rows are read from both ends, so that one unreadable page
 * costs the rows of that page alone. */
struct salvage_table {
    const char *up;
    const char *down;
    const char *put;
    int columns;
};

#define HISTORY_ROWS "SELECT *, " SUM_HISTORY " FROM history NOT INDEXED WHERE ended_ms <= ?1 "
#define ATTEMPT_ROWS "SELECT *, " SUM_ATTEMPT " FROM attempt NOT INDEXED WHERE ?1 IS NOT NULL "
/* A day that ends after the last proven moment has sums that cannot be proven. */
#define DAY_PROVEN "day * 86400000 + 86400000 <= ?1 OR ?1 = 9223372036854775807 "
#define PIECE_ROWS "SELECT *, " SUM_PIECE " FROM usage_piece WHERE end_ms <= ?1 "
#define DAY_ROWS "SELECT *, " SUM_DAY " FROM usage_day WHERE " DAY_PROVEN
#define NODE_ROWS "SELECT *, " SUM_NODE " FROM usage_node WHERE " DAY_PROVEN
#define TOKEN_ROWS "SELECT *, " SUM_TOKEN " FROM token NOT INDEXED WHERE ?1 IS NOT NULL "
#define CHUNK_ROWS "SELECT *, " SUM_CHUNK " FROM log_chunk NOT INDEXED WHERE time_ms <= ?1 "
#define FACT_ROWS "SELECT *, 1 FROM fact WHERE seq BETWEEN ?2 AND ?3 AND ?1 IS NOT NULL "

static const struct salvage_table history_table = {
    HISTORY_ROWS "ORDER BY task", HISTORY_ROWS "ORDER BY task DESC",
    "INSERT OR IGNORE INTO history VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)", 11};
static const struct salvage_table attempt_table = {
    ATTEMPT_ROWS "ORDER BY task, idx, attempt",
    ATTEMPT_ROWS "ORDER BY task DESC, idx DESC, attempt DESC",
    "INSERT OR IGNORE INTO attempt VALUES (?1, ?2, ?3, ?4, ?5, ?6)", 6};
static const struct salvage_table piece_table = {
    PIECE_ROWS "ORDER BY day, task, idx, attempt",
    PIECE_ROWS "ORDER BY day DESC, task DESC, idx DESC, attempt DESC",
    "INSERT OR IGNORE INTO usage_piece VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, "
    "?13, ?14, ?15, ?16, ?17)",
    17};
static const struct salvage_table day_table = {
    DAY_ROWS "ORDER BY day, pool, project, user, kind",
    DAY_ROWS "ORDER BY day DESC, pool DESC, project DESC, user DESC, kind DESC",
    "INSERT OR IGNORE INTO usage_day VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, "
    "?13, ?14, ?15, ?16, ?17, ?18, ?19)",
    19};
static const struct salvage_table node_table = {
    NODE_ROWS "ORDER BY day, pool, node", NODE_ROWS "ORDER BY day DESC, pool DESC, node DESC",
    "INSERT OR IGNORE INTO usage_node VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)", 10};
static const struct salvage_table token_table = {
    TOKEN_ROWS "ORDER BY hash", TOKEN_ROWS "ORDER BY hash DESC",
    "INSERT OR IGNORE INTO token VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)", 11};
static const struct salvage_table chunk_table = {
    CHUNK_ROWS "ORDER BY task, idx, attempt, stream, offset",
    CHUNK_ROWS "ORDER BY task DESC, idx DESC, attempt DESC, stream DESC, offset DESC",
    "INSERT OR IGNORE INTO log_chunk VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)", 9};
static const struct salvage_table fact_table = {
    FACT_ROWS "ORDER BY seq", FACT_ROWS "ORDER BY seq DESC",
    "INSERT OR IGNORE INTO fact VALUES (?1, ?2, ?3, ?4, ?5)", 5};

/* Is the record that the row of log_chunk names whole? */
static bool record_whole(struct log_reader *reader, sqlite3_stmt *row)
{
    struct arena arena;
    struct str data;
    struct log_ref ref = {.place = db_u64(row, 7),
                          .key = {.task = db_u64(row, 0),
                                  .index = (uint32_t)db_u64(row, 1),
                                  .attempt = (uint32_t)db_u64(row, 2),
                                  .stream = (uint32_t)db_u64(row, 3),
                                  .offset = db_u64(row, 4)},
                          .len = db_u64(row, 5)};
    arena_init(&arena);
    enum err r = logstore_reader_read(reader, &ref, &arena, &data, NULL);
    arena_done(&arena);
    return r == ERR_OK;
}

static enum err row_put(sqlite3_stmt *row, sqlite3_stmt *put, int columns, struct error *e)
{
    for (int i = 0; i < columns; i++) {
        if (sqlite3_bind_value(put, i + 1, sqlite3_column_value(row, i)) != SQLITE_OK) {
            return db_fail(sqlite3_db_handle(put), "copy a row", e);
        }
    }
    return db_run(put, "copy a row", e);
}

/* One reading of the table. *ret_cut: an unreadable page ended it. `reader` is for log_chunk. */
static enum err rows_take(struct salvage *s, const struct salvage_table *table, sqlite3_stmt *rows,
                          sqlite3_stmt *put, struct log_reader *reader, uint64_t *left_out,
                          bool *ret_cut, struct error *e)
{
    for (uint64_t count = 1;; count++) {
        bool row;
        enum err r = db_row(rows, &row, "read rows", e);
        *ret_cut = r == ERR_CORRUPT;
        if (*ret_cut || r != ERR_OK || !row) {
            return *ret_cut ? ERR_OK : r;
        }
        const bool whole =
            db_u64(rows, table->columns) == 1 && (reader == NULL || record_whole(reader, rows));
        *left_out += !whole;
        r = whole ? row_put(rows, put, table->columns, e) : ERR_OK;
        if (r == ERR_OK && count % ROWS_PER_COMMIT == 0 &&
            sqlite3_exec(s->target, "COMMIT; BEGIN", NULL, NULL, NULL) != SQLITE_OK) {
            r = db_fail(s->target, "copy rows", e);
        }
        if (r != ERR_OK) {
            return r;
        }
    }
}

static void rows_bind(const struct salvage *s, const struct salvage_table *table,
                      sqlite3_stmt *rows)
{
    db_bind_i64(rows, 1, s->until_ms);
    if (table == &fact_table) {
        db_bind_u64(rows, 2, s->base + 1);
        db_bind_u64(rows, 3, s->result->seq);
    }
}

static enum err table_take(struct salvage *s, const struct salvage_table *table,
                           struct log_reader *reader, uint64_t *left_out, struct error *e)
{
    const char *const reads[] = {table->up, table->down};
    sqlite3_stmt *rows[2];
    sqlite3_stmt *put;
    bool cut = false;
    uint64_t again = 0; /* the second reading meets the same damaged rows */
    enum err r = db_prepare(s->source, reads, 2, rows, e);
    if (r != ERR_OK) {
        return r;
    }
    r = db_prepare(s->target, &table->put, 1, &put, e);
    if (r == ERR_OK) {
        rows_bind(s, table, rows[0]);
        rows_bind(s, table, rows[1]);
        r = rows_take(s, table, rows[0], put, reader, left_out, &cut, e);
        if (r == ERR_OK && cut) {
            s->result->unreadable = true;
            r = rows_take(s, table, rows[1], put, reader, &again, &cut, e);
        }
        db_finalize(&put, 1);
    }
    db_finalize(rows, 2);
    return r;
}

static enum err tables_take(struct salvage *s, struct error *e)
{
    struct log_reader *reader = logstore_reader_new(s->from);
    struct store_restored *out = s->result;
    uint64_t facts = 0;
    if (sqlite3_exec(s->target, "BEGIN", NULL, NULL, NULL) != SQLITE_OK) {
        logstore_reader_free(reader);
        return db_fail(s->target, "begin a restore", e);
    }
    enum err r = table_take(s, &fact_table, NULL, &facts, e);
    r = r == ERR_OK ? table_take(s, &history_table, NULL, &out->history_left, e) : r;
    r = r == ERR_OK ? table_take(s, &attempt_table, NULL, &out->history_left, e) : r;
    r = r == ERR_OK ? table_take(s, &piece_table, NULL, &out->history_left, e) : r;
    r = r == ERR_OK ? table_take(s, &day_table, NULL, &out->history_left, e) : r;
    r = r == ERR_OK ? table_take(s, &node_table, NULL, &out->history_left, e) : r;
    r = r == ERR_OK ? table_take(s, &token_table, NULL, &out->tokens_left, e) : r;
    r = r == ERR_OK ? table_take(s, &chunk_table, reader, &out->output_left, e) : r;
    logstore_reader_free(reader);
    if (r == ERR_OK && sqlite3_exec(s->target, "COMMIT", NULL, NULL, NULL) != SQLITE_OK) {
        r = db_fail(s->target, "finish a restore", e);
    }
    return r;
}

/* ---- files ---- */

/* Counts the rows that were taken, and copies the segments that they name. */
static enum err segments_take(struct salvage *s, struct error *e)
{
    static const char *const sql[] = {
        "INSERT INTO log_segment SELECT segment, chunks, bytes, weir_sum(segment, chunks, bytes) "
        "FROM "
        "(SELECT place >> 32 AS segment, count(*) AS chunks, "
        "max((place & 4294967295) + ?1 + length) AS bytes FROM log_chunk GROUP BY 1)",
        "SELECT segment, bytes FROM log_segment",
    };
    sqlite3_stmt *stmts[2];
    enum err r = db_prepare(s->target, sql, 2, stmts, e);
    if (r != ERR_OK) {
        return r;
    }
    db_bind_i64(stmts[0], 1, LOG_RECORD_HEAD);
    r = db_run(stmts[0], "count the log segments", e);
    for (bool row = r == ERR_OK; row;) {
        r = db_row(stmts[1], &row, "read the log index", e);
        if (r == ERR_OK && row) {
            struct path source = datadir_segment(s->from, db_u64(stmts[1], 0));
            struct path target = datadir_segment(s->work, db_u64(stmts[1], 0));
            r = file_copy(source.text, target.text, db_u64(stmts[1], 1), e);
        }
        row = row && r == ERR_OK;
    }
    db_finalize(stmts, 2);
    return r;
}

static enum err snapshots_take(struct salvage *s, const struct datadir_numbers *wholes,
                               struct error *e)
{
    enum err r = ERR_OK;
    for (size_t i = 0; r == ERR_OK && i < wholes->count; i++) {
        const uint64_t seq = wholes->at[i];
        uint64_t bytes;
        uint32_t crc;
        if (seq < s->base || seq > s->result->seq) {
            continue;
        }
        r = store_snapshot_head(s->from, seq, &bytes, &crc, e);
        if (r == ERR_OK) {
            struct path source = datadir_snapshot(s->from, seq);
            struct path target = datadir_snapshot(s->work, seq);
            r = file_copy(source.text, target.text, bytes, e);
        }
        r = r == ERR_OK ? store_identity_snapshot_note(s->target, s->work, seq, e) : r;
    }
    return r;
}

/* The new directory has the identity of the damaged one, and knows of which days the pieces of the accounting were removed,
 * where that can be read. */
static enum err meta_take(struct salvage *s, struct error *e)
{
    static const char *const keys[] = {"identity", "usage_pieces_from"};
    enum err r = ERR_OK;
    const bool readable = s->source != NULL && meta_check(s->source, NULL) == ERR_OK;
    for (size_t i = 0; r == ERR_OK && readable && i < sizeof keys / sizeof keys[0]; i++) {
        char value[META_VALUE_MAX] = "";
        if (meta_get(s->source, keys[i], value, NULL) == ERR_OK && value[0] != '\0') {
            r = meta_put(s->target, keys[i], value, e);
        }
    }
    return r == ERR_OK ? store_identity_ensure(s->target, s->work, e) : r;
}

/* ---- all together ---- */

/* Facts behind the point are lost: then what happened after it must stay out too. */
static enum err loss_look(struct salvage *s, const struct reach *best, struct error *e)
{
    struct ack ack;
    int64_t last = 0;
    enum err r = ack_read(s->from, &ack, NULL);
    s->result->acknowledged = r == ERR_OK ? ack.seq : 0;
    if (s->source != NULL) {
        r = db_query_number(s->source, "SELECT max(seq) FROM fact", &last, e);
        if (r != ERR_OK && r != ERR_CORRUPT) {
            return r;
        }
    }
    const bool lost = s->result->acknowledged > best->seq || last > (int64_t)best->seq;
    s->until_ms = lost ? best->time_ms : INT64_MAX;
    return ERR_OK;
}

static enum err contents_take(struct salvage *s, struct error *e)
{
    struct datadir_numbers wholes = {0};
    struct reach best;
    enum err r = point_find(s, &wholes, &best, e);
    r = r == ERR_OK ? loss_look(s, &best, e) : r;
    if (r == ERR_OK && best.seq == 0) {
        r = fail(
            e, ERR_CORRUPT,
            "nothing in '%.80s' can be proven: neither a snapshot nor the first fact is whole; "
            "restore a backup",
            s->from);
    }
    s->result->seq = best.seq;
    r = r == ERR_OK && s->source != NULL ? tables_take(s, e) : r;
    r = r == ERR_OK ? segments_take(s, e) : r;
    r = r == ERR_OK ? snapshots_take(s, &wholes, e) : r;
    vec_done(&wholes);
    return r == ERR_OK ? meta_take(s, e) : r;
}

static enum err part_move(const struct salvage *s, const char *dir, const char *name,
                          struct error *e)
{
    struct path from = datadir_sub(s->work, name);
    struct path to = datadir_sub(dir, name);
    if (rename(from.text, to.text) != 0) {
        return fail_errno(e, ERR_IO, errno, "cannot rename '%s'", from.text);
    }
    return ERR_OK;
}

static enum err parts_move(const struct salvage *s, const char *dir, struct error *e)
{
    static const char *const names[] = {"log", "snapshot", "weir.db"};
    enum err r = file_sync_dir(datadir_sub(s->work, "log").text, e);
    r = r == ERR_OK ? file_sync_dir(datadir_sub(s->work, "snapshot").text, e) : r;
    for (size_t i = 0; r == ERR_OK && i < sizeof names / sizeof names[0]; i++) {
        r = part_move(s, dir, names[i], e);
    }
    if (r == ERR_OK && rmdir(s->work) != 0) {
        r = fail_errno(e, ERR_IO, errno, "cannot remove '%s'", s->work);
    }
    return r == ERR_OK ? file_sync_dir(dir, e) : r;
}

enum err store_salvage(const char *from, const char *dir, store_decode_fn decode,
                       struct store_restored *ret, struct error *e)
{
    struct salvage s = {.from = from, .decode = decode, .result = ret};
    (void)str_copy(s.work, sizeof s.work, datadir_sub(dir, "restoring").text);
    if (db_open(from, DB_READ, &s.source, e) != ERR_OK) {
        s.source = NULL;
        ret->unreadable = true;
    }
    enum err r = datadir_make(s.work, e);
    r = r == ERR_OK ? db_open(s.work, DB_WRITE, &s.target, e) : r;
    r = r == ERR_OK ? contents_take(&s, e) : r;
    (void)sqlite3_close(s.source);
    if (sqlite3_close(s.target) != SQLITE_OK && r == ERR_OK) {
        r = fail(e, ERR_IO, "cannot finish '%.100s/weir.db'", s.work);
    }
    return r == ERR_OK ? parts_move(&s, dir, e) : r;
}
