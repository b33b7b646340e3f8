/* store.c - opening and closing the store, replay, snapshots, tokens. Read this file first.
 * SPDX-License-Identifier: Apache-2.0 */
#include "store/sqlite/store_internal.h"

#include "store/sqlite/migrations.h"
#include "store/sqlite/usage_sql.h"

#include "base/log.h"
#include "base/mem.h"
#include "base/vec.h"
#include "store/datadir.h"
#include "store/file.h"
#include "store/store_snapshot.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    FACT_PAGE_ROWS = 4096, /* rows of one read transaction during replay */
    FACTS_KEEP_DEFAULT = 1000000,
};

static const char *const stmt_sql[STMT_COUNT] = {
    [STMT_BEGIN] = "BEGIN IMMEDIATE",
    [STMT_COMMIT] = "COMMIT",
    [STMT_ROLLBACK] = "ROLLBACK",
    [STMT_FACT_PUT] = "INSERT INTO fact (seq, time_ms, type, body, sum) "
                      "VALUES (?1, ?2, ?3, ?4, ?5)",
    /* An adopted directory begins with a snapshot and no fact. */
    [STMT_FACT_LAST] = "SELECT coalesce((SELECT max(seq) FROM fact), max(seq)) FROM snapshot",
    [STMT_FACT_GET] = "SELECT seq, time_ms, type, body, sum FROM fact WHERE seq = ?1",
    [STMT_FACT_FIRST] = "SELECT min(seq) FROM fact",
    [STMT_FACT_PAGE] = "SELECT seq, time_ms, type, body, sum FROM fact WHERE seq > ?1 "
                       "ORDER BY seq LIMIT ?2",
    [STMT_FACT_PRUNE] = "DELETE FROM fact WHERE seq <= ?1",
    [STMT_HISTORY_PUT] = "INSERT INTO history (task, submitted_ms, ended_ms, state, "
                         "kind, pool, user, project, name, json, sum) "
                         "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
    [STMT_HISTORY_OLDEST] = "SELECT task FROM history INDEXED BY history_ended "
                            "WHERE ended_ms < ?1 AND " SUM_HISTORY " ORDER BY ended_ms LIMIT 1",
    [STMT_HISTORY_DELETE] = "DELETE FROM history WHERE task = ?1",
    [STMT_ATTEMPT_PUT] = "INSERT OR REPLACE INTO attempt (task, idx, attempt, json, ended_ms, sum) "
                         "VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
    [STMT_ATTEMPT_END] = "SELECT ended_ms FROM attempt WHERE task = ?1 AND idx = ?2 "
                         "AND attempt = ?3",
    [STMT_ATTEMPT_DELETE] = "DELETE FROM attempt WHERE task = ?1",
    [STMT_PIECE_PUT] = USAGE_PIECE_PUT,
    [STMT_DAY_ADD] = USAGE_DAY_ADD,
    [STMT_NODE_ADD] = USAGE_NODE_ADD,
    [STMT_PIECE_OLDEST] = "SELECT min(day) FROM usage_piece",
    [STMT_PIECE_PRUNE] =
        "DELETE FROM usage_piece WHERE (day, task, idx, attempt) IN "
        "(SELECT day, task, idx, attempt FROM usage_piece WHERE day < ?1 LIMIT ?2)",
    [STMT_DAY_OLDEST] = "SELECT min(day) FROM usage_day",
    [STMT_DAY_PRUNE] = "DELETE FROM usage_day WHERE day = ?1",
    [STMT_NODE_PRUNE] = "DELETE FROM usage_node WHERE day <= ?1",
    [STMT_CHUNK_PUT] = "INSERT INTO log_chunk "
                       "(task, idx, attempt, stream, offset, length, time_ms, place, sum) "
                       "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, "
                       "weir_sum(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)) "
                       "ON CONFLICT (task, idx, attempt, stream, offset) DO NOTHING",
    [STMT_CHUNK_END] =
        "SELECT offset + length FROM log_chunk WHERE task = ?1 AND idx = ?2 "
        "AND attempt = ?3 AND stream = ?4 AND " SUM_CHUNK " ORDER BY offset DESC LIMIT 1",
    [STMT_CHUNK_FIRST] = "SELECT place FROM log_chunk INDEXED BY log_chunk_arrival "
                         "WHERE task = ?1 ORDER BY place LIMIT ?2",
    [STMT_CHUNK_DELETE] = "DELETE FROM log_chunk WHERE task = ?1 AND place <= ?2",
    [STMT_SEGMENT_ADD] = "INSERT INTO log_segment (segment, chunks, bytes, sum) "
                         "VALUES (?1, ?2, ?3, weir_sum(?1, ?2, ?3)) "
                         "ON CONFLICT (segment) DO UPDATE SET "
                         "chunks = chunks + excluded.chunks, bytes = excluded.bytes, "
                         "sum = weir_sum(segment, chunks + excluded.chunks, excluded.bytes) "
                         "WHERE " SUM_SEGMENT,
    [STMT_SEGMENT_TAKE] = "UPDATE log_segment SET chunks = chunks - ?2, "
                          "sum = weir_sum(segment, chunks - ?2, bytes) WHERE segment = ?1 "
                          "AND " SUM_SEGMENT,
    [STMT_SEGMENT_LAST] = "SELECT segment, bytes FROM log_segment WHERE " SUM_SEGMENT
                          " ORDER BY segment DESC LIMIT 1",
    [STMT_SEGMENT_DAMAGED] = "SELECT count(*) FROM log_segment WHERE (" SUM_SEGMENT ") IS NOT 1",
    [STMT_SEGMENT_KNOWN] = "SELECT EXISTS (SELECT 1 FROM log_segment WHERE segment = ?1) OR "
                           "EXISTS (SELECT 1 FROM log_chunk WHERE place >> 32 = ?1)",
    [STMT_SEGMENT_EMPTY] = "SELECT segment FROM log_segment WHERE chunks = 0 AND segment < ?1 "
                           "AND " SUM_SEGMENT " ORDER BY segment LIMIT ?2",
    [STMT_SEGMENT_DELETE] = "DELETE FROM log_segment WHERE segment = ?1",
    [STMT_SNAPSHOT_PUT] = "INSERT OR REPLACE INTO snapshot (seq, bytes, crc, sum) "
                          "VALUES (?1, ?2, ?3, weir_sum(?1, ?2, ?3))",
    [STMT_SNAPSHOT_SECOND] =
        "SELECT seq FROM snapshot WHERE " SUM_SNAPSHOT " ORDER BY seq DESC LIMIT 1 OFFSET 1",
    [STMT_SNAPSHOT_CRC] = "SELECT crc FROM snapshot WHERE seq = ?1 AND " SUM_SNAPSHOT,
    [STMT_SNAPSHOT_OLDER] = "SELECT seq, bytes, (" SUM_SNAPSHOT ") IS 1 FROM snapshot "
                            "WHERE seq < ?1 ORDER BY seq DESC",
    [STMT_SNAPSHOT_DELETE] = "DELETE FROM snapshot WHERE seq = ?1",
    [STMT_TOKEN_PUT] = "INSERT OR REPLACE INTO token "
                       "(hash, id, scope, name, created_ms, expires_ms, uses, pool, node, machine, "
                       "sum) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, "
                       "weir_sum(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10))",
    [STMT_TOKEN_DELETE] = "DELETE FROM token WHERE hash = ?1",
    [STMT_TOKEN_ALL] =
        "SELECT hash, id, scope, name, created_ms, expires_ms, "
        "uses, pool, node, machine, " SUM_TOKEN " FROM token ORDER BY created_ms, id",
};

static int wal_grew(void *ctx, sqlite3 *db, const char *name, int pages)
{
    (void)db;
    (void)name;
    struct store *store = ctx;
    store->wal_pages = pages;
    store->wal_frames = pages;
    return SQLITE_OK;
}

/* The newest segment by the files, for an index that does not say. */
static enum err segment_newest(const char *dir, uint64_t *segment, struct error *e)
{
    struct datadir_numbers numbers;
    enum err r = datadir_list(dir, "log", ".seg", &numbers, e);
    if (r == ERR_OK && numbers.count > 0 && numbers.at[numbers.count - 1] > *segment) {
        *segment = numbers.at[numbers.count - 1];
    }
    vec_done(&numbers);
    return r;
}

/* The log goes on behind the end that the index names. A segment that is shorter than the index
 * says was cut from outside, and a damaged row of the index names no end. Such a segment is left for
 * store_check() to name, and the next segment is begun. */
static enum err log_resume(struct store *store, struct error *e)
{
    sqlite3_stmt *stmt = store->stmt[STMT_SEGMENT_LAST];
    bool row;
    enum err r = db_row(stmt, &row, "read", e);
    if (r != ERR_OK) {
        return r;
    }
    uint64_t segment = row ? db_u64(stmt, 0) : 1;
    uint64_t bytes = row ? db_u64(stmt, 1) : 0;
    (void)sqlite3_reset(stmt);
    int64_t damaged;
    r = db_number(store->stmt[STMT_SEGMENT_DAMAGED], 0, &damaged, e);
    r = r == ERR_OK && damaged > 0 ? segment_newest(store->dir, &segment, e) : r;
    if (r != ERR_OK) {
        return r;
    }
    struct path path = datadir_segment(store->dir, segment);
    struct stat status;
    if (damaged > 0 || bytes > LOG_SEGMENT_BYTES ||
        (bytes > 0 && (stat(path.text, &status) != 0 || (uint64_t)status.st_size < bytes))) {
        segment++;
        bytes = 0;
    }
    logstore_free(store->log);
    store->log = logstore_new(store->dir, segment, bytes);
    return ERR_OK;
}

/* The checksum of fact `seq`, to which the next fact is chained; 0: there is no such fact. */
static enum err fact_anchor(struct store *store, uint64_t seq, uint32_t *ret, struct error *e)
{
    sqlite3_stmt *stmt = store->stmt[STMT_FACT_GET];
    bool row;
    *ret = 0;
    db_bind_u64(stmt, 1, seq);
    enum err r = db_row(stmt, &row, "read facts", e);
    if (r != ERR_OK || !row) {
        return r;
    }
    struct store_fact fact = sum_fact_row(stmt);
    *ret = sum_own(db_u64(stmt, 4));
    r = sum_fact_right(db_u64(stmt, 4), &fact) ? ERR_OK : sum_fact_fail(store->dir, seq, e);
    (void)sqlite3_reset(stmt);
    return r;
}

enum err store_sync_up(struct store *store, struct error *e)
{
    if (!store->stale) {
        return ERR_OK;
    }
    int64_t last;
    enum err r = db_number(store->stmt[STMT_FACT_LAST], 0, &last, e);
    if (r == ERR_OK && last < 0) {
        r = fail(e, ERR_CORRUPT, "'%.100s/weir.db' is damaged: its last fact has number %" PRId64,
                 store->dir, last);
    }
    r = r == ERR_OK ? log_resume(store, e) : r;
    r = r == ERR_OK ? fact_anchor(store, (uint64_t)last, &store->last_sum, e) : r;
    if (r != ERR_OK) {
        return r;
    }
    store->last_seq = (uint64_t)last;
    store->stale = false;
    return ERR_OK;
}

/* Renames snapshots that are newer than the newest fact, as in a database that was restored. Such a
 * snapshot would become wrong once the facts reach its number. */
static enum err snapshots_ahead_move(struct store *store, struct error *e)
{
    struct datadir_numbers numbers;
    enum err r = datadir_list(store->dir, "snapshot", ".snap", &numbers, e);
    for (size_t i = 0; r == ERR_OK && i < numbers.count; i++) {
        struct path path = datadir_snapshot(store->dir, numbers.at[i]);
        char aside[DATADIR_PATH_MAX + 8];
        (void)snprintf(aside, sizeof aside, "%s.ahead", path.text);
        if (numbers.at[i] > store->last_seq && rename(path.text, aside) != 0) {
            r = fail_errno(e, ERR_IO, errno, "cannot rename '%s'", path.text);
        }
    }
    vec_done(&numbers);
    return r;
}

/* Before the database is opened: has the write-ahead log all that was stored? From here on the file
 * says nothing of the write-ahead log, because opening the database empties it. */
static enum err ack_before(struct store *store, struct error *e)
{
    enum err r = ack_read(store->dir, &store->ack, e);
    if (r == ERR_CORRUPT) {
        log_error("a lost end of the facts cannot be noticed this time", kv_error(e));
        r = ERR_OK;
    }
    r = r == ERR_OK ? ack_wal_check(store->dir, &store->ack, e) : r;
    r = r == ERR_OK ? ack_open(store->dir, &store->ack_fd, e) : r;
    if (r == ERR_OK) {
        store->ack.frames = 0;
        ack_write(store->ack_fd, &store->ack);
    }
    return r;
}

/* Has the database all that was stored, and is the last known fact the same? */
static enum err ack_compare(struct store *store, struct error *e)
{
    uint32_t own;
    enum err r = ack_seq_check(store->dir, &store->ack, store->last_seq, e);
    r = r == ERR_OK ? fact_anchor(store, store->ack.seq, &own, e) : r;
    if (r == ERR_OK && own != 0 && store->ack.sum != 0 && own != store->ack.sum) {
        r = fail(e, ERR_CORRUPT,
                 "fact %" PRIu64 " in '%.80s/weir.db' is not the one that was acknowledged: "
                 "the database is of another time; `weir db adopt` goes on with it",
                 store->ack.seq, store->dir);
    }
    store->ack_begun = r == ERR_OK;
    return r;
}

static enum err store_set_up(struct store *store, struct error *e)
{
    enum err r = store_identity_before(store->dir, e);
    r = r == ERR_OK ? datadir_make(store->dir, e) : r;
    if (r == ERR_OK) {
        r = datadir_lock(store->dir, &store->lock_fd, e);
    }
    r = r == ERR_OK ? ack_before(store, e) : r;
    if (r == ERR_OK) {
        r = db_open(store->dir, DB_WRITE, &store->db, e);
    }
    r = r == ERR_OK ? store_identity_ensure(store->db, store->dir, e) : r;
    if (r == ERR_OK) {
        r = db_prepare(store->db, stmt_sql, STMT_COUNT, store->stmt, e);
    }
    if (r != ERR_OK) {
        return r;
    }
    (void)sqlite3_wal_hook(store->db, wal_grew, store);
    store->stale = true;
    r = store_sync_up(store, e);
    r = r == ERR_OK ? ack_compare(store, e) : r;
    if (r == ERR_OK) {
        r = snapshots_ahead_move(store, e);
    }
    if (r == ERR_OK) {
        store_snapshot_sweep(store->dir);
        store_prune_orphans(store);
    }
    return r;
}

enum err store_open(const struct store_options *options, struct store **ret, struct error *e)
{
    enum err r = datadir_valid(options->dir, e);
    if (r != ERR_OK) {
        return r;
    }
    struct store *store = xcalloc(1, sizeof *store);
    store->dir = xstrdup(options->dir);
    store->lock_fd = -1;
    store->ack_fd = -1;
    store->ack_salt_stale = true;
    store->facts_keep = options->facts_keep != 0 ? options->facts_keep : FACTS_KEEP_DEFAULT;
    store->history_keep_ms = options->history_keep_ms;
    store->wal_pages_tend_at = STORE_WAL_BYTES / STORE_PAGE_BYTES;
    r = store_set_up(store, e);
    if (r != ERR_OK) {
        store_close(store);
        return r;
    }
    *ret = store;
    return ERR_OK;
}

void store_close(struct store *store)
{
    if (store == NULL) {
        return;
    }
    db_finalize(store->stmt, STMT_COUNT);
    if (store->ack_begun) {
        store->ack.frames = 0;
        ack_write(store->ack_fd, &store->ack);
    }
    file_closep(&store->ack_fd);
    if (store->db != NULL) {
        (void)sqlite3_wal_checkpoint_v2(store->db, NULL, SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);
        int rc = sqlite3_close(store->db);
        must(rc == SQLITE_OK);
    }
    logstore_free(store->log);
    file_closep(&store->lock_fd); /* last, because closing it frees the directory for others */
    for (unsigned i = 0; i < STORE_FILES; i++) {
        free(store->files[i].path);
    }
    free(store->dir);
    free(store);
}

enum err store_snapshot_load(struct store *store, uint64_t before, struct arena *arena,
                             uint64_t *ret_seq, struct str *ret, struct error *e)
{
    struct datadir_numbers numbers;
    enum err r = datadir_list(store->dir, "snapshot", ".snap", &numbers, e);
    if (r != ERR_OK) {
        return r;
    }
    uint64_t newest = 0;
    for (size_t i = numbers.count; i > 0 && newest == 0; i--) {
        uint64_t seq = numbers.at[i - 1];
        newest = seq <= store->last_seq && seq < before ? seq : 0;
    }
    vec_done(&numbers);
    *ret_seq = newest;
    *ret = (struct str){"", 0};
    if (newest == 0) {
        return ERR_OK;
    }
    int64_t crc;
    db_bind_u64(store->stmt[STMT_SNAPSHOT_CRC], 1, newest);
    r = db_number(store->stmt[STMT_SNAPSHOT_CRC], -1, &crc, e);
    return r == ERR_OK ? store_snapshot_read(store->dir, newest, crc, arena, ret, e) : r;
}

const char *store_snapshot_path(const struct store *store, uint64_t seq, struct arena *arena)
{
    return arena_str(arena, datadir_snapshot(store->dir, seq).text);
}

struct fact_taker {
    store_fact_fn fn;
    void *ctx;
};

/* Gives one page to the callback. `*seq` and `*sum` move to the last fact given. */
static enum err facts_page(struct store *store, uint64_t *seq, uint32_t *sum, size_t *ret_count,
                           const struct fact_taker *taker, struct error *e)
{
    sqlite3_stmt *stmt = store->stmt[STMT_FACT_PAGE];
    db_bind_u64(stmt, 1, *seq);
    db_bind_i64(stmt, 2, FACT_PAGE_ROWS);
    *ret_count = 0;
    for (;;) {
        bool row;
        enum err r = db_row(stmt, &row, "read facts", e);
        if (r != ERR_OK || !row) {
            return r;
        }
        struct store_fact fact = sum_fact_row(stmt);
        r = sum_fact_next(store->dir, *seq, *sum, &fact, db_u64(stmt, 4), e);
        r = r == ERR_OK ? taker->fn(taker->ctx, &fact, e) : r;
        *seq = fact.seq;
        *sum = sum_own(db_u64(stmt, 4));
        if (r != ERR_OK) {
            (void)sqlite3_reset(stmt);
            return r;
        }
        (*ret_count)++;
    }
}

enum err store_facts_after(struct store *store, uint64_t seq, store_fact_fn fn, void *ctx,
                           struct error *e)
{
    const struct fact_taker taker = {fn, ctx};
    uint32_t sum = 0;
    size_t count = 1;
    enum err r = store_sync_up(store, e);
    r = r == ERR_OK ? fact_anchor(store, seq, &sum, e) : r;
    while (r == ERR_OK && count > 0) {
        r = facts_page(store, &seq, &sum, &count, &taker, e);
    }
    return r;
}

/* Copies a text column into a field of fixed size. A longer text is cut, which cannot happen to a
 * text that came from such a field. */
static void column_copy(sqlite3_stmt *stmt, int column, char *out, size_t size)
{
    struct str text = db_str(stmt, column);
    size_t len = text.len < size ? text.len : size - 1;
    memcpy(out, text.p, len);
    out[len] = '\0';
}

enum err store_tokens(struct store *store, store_token_fn fn, void *ctx, struct error *e)
{
    sqlite3_stmt *stmt = store->stmt[STMT_TOKEN_ALL];
    for (;;) {
        bool row;
        enum err r = db_row(stmt, &row, "read tokens", e);
        if (r != ERR_OK || !row) {
            return r;
        }
        struct store_token token = {.created_ms = sqlite3_column_int64(stmt, 4),
                                    .expires_ms = sqlite3_column_int64(stmt, 5),
                                    .uses = sqlite3_column_int64(stmt, 6)};
        struct str hash = db_str(stmt, 0);
        column_copy(stmt, 1, token.id, sizeof token.id);
        if (db_u64(stmt, 10) != 1 || hash.len != sizeof token.hash) {
            log_error("a damaged token is not accepted", kv_str("token", token.id),
                      kv_str("dir", store->dir));
            continue;
        }
        memcpy(token.hash, hash.p, sizeof token.hash);
        column_copy(stmt, 2, token.scope, sizeof token.scope);
        column_copy(stmt, 3, token.name, sizeof token.name);
        column_copy(stmt, 7, token.pool, sizeof token.pool);
        column_copy(stmt, 8, token.node, sizeof token.node);
        column_copy(stmt, 9, token.machine, sizeof token.machine);
        fn(ctx, &token);
    }
}

int store_schema_version(void)
{
    return migration_count;
}
