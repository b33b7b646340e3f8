/* store_commit.c - one batch, one transaction: the only way into the database while a server runs.
 *
 * Holds (see README.md): S1 data before index, index with the facts; S2 all or nothing, on disk and
 * in memory. SPDX-License-Identifier: Apache-2.0 */
#include "store/sqlite/store_internal.h"
#include "store/sqlite/wal.h"

#include <inttypes.h>
#include <string.h>

/* `*ret_sum` is the checksum of the last fact. */
static enum err facts_put(struct store *store, const struct store_fact *facts, size_t count,
                          uint32_t *ret_sum, struct error *e)
{
    sqlite3_stmt *stmt = store->stmt[STMT_FACT_PUT];
    *ret_sum = store->last_sum;
    for (size_t i = 0; i < count; i++) {
        if (facts[i].seq != store->last_seq + 1 + i) {
            return fail(e, ERR_INTERNAL, "fact %" PRIu64 " given where %" PRIu64 " is next",
                        facts[i].seq, store->last_seq + 1 + i);
        }
        db_bind_u64(stmt, 1, facts[i].seq);
        db_bind_i64(stmt, 2, facts[i].time_ms);
        db_bind_i64(stmt, 3, facts[i].type);
        db_bind_blob(stmt, 4, facts[i].body);
        const uint64_t sum = sum_fact(*ret_sum, &facts[i]);
        db_bind_i64(stmt, 5, (int64_t)sum);
        *ret_sum = sum_own(sum);
        enum err r = db_run(stmt, "store a fact", e);
        if (r != ERR_OK) {
            return fail_in(e, "fact %" PRIu64 " of type %" PRIu32, facts[i].seq, facts[i].type);
        }
    }
    return ERR_OK;
}

/* Runs STMT_HISTORY_PUT. After a restore to an earlier point the table may have a row of the task already, which is then replaced. INSERT OR
 * REPLACE would do the same, but SQLite then copies each page that any row changes, and the database has six indexes. */
static enum err history_run(struct store *store, uint64_t task, struct error *e)
{
    sqlite3_stmt *put = store->stmt[STMT_HISTORY_PUT];
    enum err r = db_run(put, "store an ended task", e);
    if (r != ERR_INVALID) {
        return r;
    }
    db_bind_u64(store->stmt[STMT_HISTORY_DELETE], 1, task);
    r = db_run(store->stmt[STMT_HISTORY_DELETE], "replace an ended task", e);
    return r == ERR_OK ? db_run(put, "store an ended task", e) : r;
}

static enum err history_put(struct store *store, const struct store_history *rows, size_t count,
                            struct error *e)
{
    sqlite3_stmt *stmt = store->stmt[STMT_HISTORY_PUT];
    for (size_t i = 0; i < count; i++) {
        const struct store_history *row = &rows[i];
        struct sum_row bound;
        sum_row_begin(&bound, stmt);
        sum_row_u64(&bound, row->task);
        sum_row_i64(&bound, row->submitted_ms);
        sum_row_i64(&bound, row->ended_ms);
        sum_row_i64(&bound, row->state);
        sum_row_i64(&bound, row->kind);
        sum_row_text(&bound, row->pool);
        sum_row_text(&bound, row->user);
        sum_row_text(&bound, row->project);
        sum_row_text(&bound, row->name);
        sum_row_blob(&bound, row->json);
        sum_row_end(&bound);
        enum err r = history_run(store, row->task, e);
        if (r != ERR_OK) {
            return fail_in(e, "task %" PRIu64, row->task);
        }
    }
    return ERR_OK;
}

static enum err attempts_put(struct store *store, const struct store_attempt *rows, size_t count,
                             struct error *e)
{
    sqlite3_stmt *stmt = store->stmt[STMT_ATTEMPT_PUT];
    for (size_t i = 0; i < count; i++) {
        struct sum_row bound;
        sum_row_begin(&bound, stmt);
        sum_row_u64(&bound, rows[i].task);
        sum_row_i64(&bound, rows[i].index);
        sum_row_i64(&bound, rows[i].attempt);
        sum_row_blob(&bound, rows[i].json);
        sum_row_i64(&bound, rows[i].ended_ms);
        sum_row_end(&bound);
        enum err r = db_run(stmt, "store an attempt", e);
        if (r != ERR_OK) {
            return fail_in(e, "task %" PRIu64, rows[i].task);
        }
    }
    return ERR_OK;
}

static void field_bind(sqlite3_stmt *stmt, int number, const char *text, size_t size)
{
    db_bind_text(stmt, number, (struct str){text, strnlen(text, size)});
}

static enum err token_put(struct store *store, const struct store_token *token, struct error *e)
{
    struct str hash = {(const char *)token->hash, sizeof token->hash};
    if (token->revoked) {
        db_bind_blob(store->stmt[STMT_TOKEN_DELETE], 1, hash);
        return db_run(store->stmt[STMT_TOKEN_DELETE], "delete a token", e);
    }
    sqlite3_stmt *stmt = store->stmt[STMT_TOKEN_PUT];
    db_bind_blob(stmt, 1, hash);
    field_bind(stmt, 2, token->id, sizeof token->id);
    field_bind(stmt, 3, token->scope, sizeof token->scope);
    field_bind(stmt, 4, token->name, sizeof token->name);
    db_bind_i64(stmt, 5, token->created_ms);
    db_bind_i64(stmt, 6, token->expires_ms);
    db_bind_i64(stmt, 7, token->uses);
    field_bind(stmt, 8, token->pool, sizeof token->pool);
    field_bind(stmt, 9, token->node, sizeof token->node);
    field_bind(stmt, 10, token->machine, sizeof token->machine);
    return db_run(stmt, "store a token", e);
}

static enum err batch_put(struct store *store, const struct store_batch *batch, uint32_t *ret_sum,
                          struct error *e)
{
    enum err r = db_run(store->stmt[STMT_BEGIN], "begin a transaction", e);
    if (r == ERR_OK) {
        r = facts_put(store, batch->facts, batch->fact_count, ret_sum, e);
    }
    if (r == ERR_OK) {
        r = history_put(store, batch->history, batch->history_count, e);
    }
    if (r == ERR_OK) {
        r = attempts_put(store, batch->attempts, batch->attempt_count, e);
    }
    if (r == ERR_OK) {
        r = store_usage_put(store, batch->uses, batch->use_count, e);
    }
    for (size_t i = 0; r == ERR_OK && i < batch->token_count; i++) {
        r = token_put(store, &batch->tokens[i], e);
    }
    for (size_t i = 0; r == ERR_OK && i < batch->forgotten_count; i++) {
        r = store_prune_task(store, batch->forgotten[i], e);
    }
    if (r == ERR_OK && batch->log_count > 0) {
        r = store_commit_logs(store, batch->logs, batch->log_count, e);
    }
    return r == ERR_OK ? db_run(store->stmt[STMT_COMMIT], "commit", e) : r;
}

/* Moves a grown write-ahead log into the database. Returns SQLite's code; SQLITE_OK also when there
 * is nothing to do yet. */
static int wal_move(struct store *store)
{
    if (store->wal_pages < store->wal_pages_tend_at) {
        return SQLITE_OK;
    }
    int pages = 0;
    int moved = 0;
    int rc = sqlite3_wal_checkpoint_v2(store->db, NULL, SQLITE_CHECKPOINT_PASSIVE, &pages, &moved);
    store->ack_salt_stale = true;
    /* While a reader looks at an old state, only a part of the log moves. Then, as after a failure,
     * the log may grow by another STORE_WAL_BYTES before the next try, because each try costs two
     * flushes. */
    bool done = rc == SQLITE_OK && pages == moved;
    store->wal_pages = done ? 0 : store->wal_pages;
    store->wal_pages_tend_at = store->wal_pages + STORE_WAL_BYTES / STORE_PAGE_BYTES;
    return rc == SQLITE_BUSY ? SQLITE_OK : rc;
}

void store_commit_note(struct store *store)
{
    struct ack *ack = &store->ack;
    struct wal wal;
    if (store->ack_salt_stale && wal_scan(store->dir, 0, &wal, NULL) == ERR_OK && wal.head_whole) {
        memcpy(ack->salt, wal.salt, sizeof ack->salt);
        store->ack_salt_stale = false;
    }
    ack->seq = store->last_seq;
    ack->sum = store->last_sum;
    ack->frames = store->ack_salt_stale || store->wal_frames < 0 ? 0 : (uint32_t)store->wal_frames;
    ack_write(store->ack_fd, ack);
}

enum err store_commit(struct store *store, const struct store_batch *batch, struct error *e)
{
    enum err r = store_sync_up(store, e);
    r = r == ERR_OK ? store_present(store, e) : r;
    if (r != ERR_OK) {
        return r;
    }
    uint32_t sum;
    r = batch_put(store, batch, &sum, e);
    r = r == ERR_OK ? store_present_after(store, e) : r;
    if (r != ERR_OK) {
        store_commit_undo(store);
        return r;
    }
    logstore_keep(store->log);
    store->last_seq += batch->fact_count;
    store->last_sum = sum;
    store_commit_note(store);
    if ((int64_t)store->wal_pages * STORE_PAGE_BYTES > STORE_WAL_BYTES_MAX) {
        (void)wal_move(store); /* the batch is safe; the next call tries again */
    }
    return ERR_OK;
}

void store_commit_undo(struct store *store)
{
    for (int i = 0; i < STMT_COUNT; i++) {
        (void)sqlite3_reset(store->stmt[i]);
    }
    if (sqlite3_get_autocommit(store->db) == 0) {
        (void)sqlite3_step(store->stmt[STMT_ROLLBACK]);
        (void)sqlite3_reset(store->stmt[STMT_ROLLBACK]);
    }
    logstore_undo(store->log);
    memset(store->ends, 0, sizeof store->ends);
    store->stale = true;
}

uint64_t store_commit_last_seq(const struct store *store)
{
    return store->last_seq;
}

enum err store_commit_tend(struct store *store, struct error *e)
{
    return wal_move(store) == SQLITE_OK ? ERR_OK : db_fail(store->db, "checkpoint", e);
}
