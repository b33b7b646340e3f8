/* store_prune.c - retention: removes old snapshots, facts, ended tasks and log segments, with
 * bounded work per call.
 *
 * Holds (see README.md): S4 the two newest snapshots stay, with every fact behind the older one; which older ones
 * stay, says store_past.c. A row is removed before the file that it names. No file is removed while a backup or check reads
 * files. SPDX-License-Identifier: Apache-2.0 */
#include "store/sqlite/store_internal.h"

#include "base/vec.h"
#include "store/datadir.h"
#include "store/store_snapshot.h"

#include <inttypes.h>
#include <unistd.h>

enum {
    PRUNE_ROWS_MAX = 2000, /* rows of one call: a few milliseconds */
    PRUNE_FILES_MAX = 16,  /* segments of one call */
};

/* The older of the two newest snapshots; 0: there are fewer than two. */
static enum err second_snapshot(struct store *store, uint64_t *ret_seq, struct error *e)
{
    int64_t seq;
    enum err r = db_number(store->stmt[STMT_SNAPSHOT_SECOND], 0, &seq, e);
    if (r == ERR_OK) {
        *ret_seq = (uint64_t)seq;
    }
    return r;
}

/* Records the snapshot and forgets older ones. *ret_keep: the older one of the two newest; *ret_older: older ones that stay. */
static enum err snapshot_record(struct store *store, uint64_t seq, uint64_t bytes, uint32_t crc,
                                uint64_t *ret_keep, struct datadir_numbers *ret_older,
                                struct error *e)
{
    sqlite3_stmt *put = store->stmt[STMT_SNAPSHOT_PUT];
    enum err r = db_run(store->stmt[STMT_BEGIN], "begin a transaction", e);
    if (r == ERR_OK) {
        db_bind_u64(put, 1, seq);
        db_bind_u64(put, 2, bytes);
        db_bind_u64(put, 3, crc);
        r = db_run(put, "record a snapshot", e);
    }
    if (r == ERR_OK) {
        r = second_snapshot(store, ret_keep, e);
    }
    if (r == ERR_OK) {
        r = store_past_thin(store, *ret_keep, ret_older, e);
    }
    return r == ERR_OK ? db_run(store->stmt[STMT_COMMIT], "commit", e) : r;
}

static bool number_among(const struct datadir_numbers *numbers, uint64_t number)
{
    for (size_t i = 0; i < numbers->count; i++) {
        if (numbers->at[i] == number) {
            return true;
        }
    }
    return false;
}

/* Best effort: a file that stays is removed after the next snapshot. */
static void snapshots_remove(struct store *store, uint64_t keep,
                             const struct datadir_numbers *older)
{
    struct datadir_numbers numbers;
    if (!datadir_removal_begin(store->lock_fd)) {
        return;
    }
    if (datadir_list(store->dir, "snapshot", ".snap", &numbers, NULL) == ERR_OK) {
        for (size_t i = 0; i < numbers.count && numbers.at[i] < keep; i++) {
            struct path path = datadir_snapshot(store->dir, numbers.at[i]);
            if (!number_among(older, numbers.at[i])) {
                (void)unlink(path.text);
            }
        }
        vec_done(&numbers);
    }
    datadir_removal_end(store->lock_fd);
}

enum err store_prune_snapshot_taken(struct store *store, uint64_t seq, struct error *e)
{
    enum err r = store_sync_up(store, e);
    if (r != ERR_OK) {
        return r;
    }
    uint64_t bytes;
    uint32_t crc;
    r = store_snapshot_head(store->dir, seq, &bytes, &crc, e);
    if (r != ERR_OK) {
        return r;
    }
    if (seq > store->last_seq) {
        /* The snapshot's facts were never stored, and other facts will get their numbers. */
        (void)unlink(datadir_snapshot(store->dir, seq).text);
        return fail(e, ERR_CONFLICT,
                    "snapshot of fact %" PRIu64 " is ahead of the last stored one, %" PRIu64, seq,
                    store->last_seq);
    }
    uint64_t keep;
    struct datadir_numbers older = {0};
    r = snapshot_record(store, seq, bytes, crc, &keep, &older, e);
    if (r == ERR_OK) {
        store_commit_note(store);
        snapshots_remove(store, keep, &older);
    } else {
        store_commit_undo(store);
    }
    vec_done(&older);
    return r;
}

static enum err segment_take(struct store *store, uint64_t segment, uint64_t chunks,
                             struct error *e)
{
    sqlite3_stmt *stmt = store->stmt[STMT_SEGMENT_TAKE];
    db_bind_u64(stmt, 1, segment);
    db_bind_u64(stmt, 2, chunks);
    return chunks > 0 ? db_run(stmt, "count a log segment", e) : ERR_OK;
}

/* Subtracts the first chunks of the task (at most `max`) from the counts of their segments. */
static enum err chunks_take(struct store *store, uint64_t task, size_t max, size_t *ret_count,
                            uint64_t *ret_last, struct error *e)
{
    sqlite3_stmt *stmt = store->stmt[STMT_CHUNK_FIRST];
    db_bind_u64(stmt, 1, task);
    db_bind_u64(stmt, 2, max);
    struct segment_count run = {0};
    *ret_count = 0;
    for (;;) {
        bool row;
        enum err r = db_row(stmt, &row, "read the log index", e);
        if (r != ERR_OK || !row) {
            return r == ERR_OK ? segment_take(store, run.segment, run.chunks, e) : r;
        }
        *ret_last = db_u64(stmt, 0);
        (*ret_count)++;
        if (log_place_segment(*ret_last) != run.segment) {
            r = segment_take(store, run.segment, run.chunks, e);
            run = (struct segment_count){.segment = log_place_segment(*ret_last)};
        }
        if (r != ERR_OK) {
            return r;
        }
        run.chunks++;
    }
}

/* Removes an ended task within *budget. The task's row is removed only after all its chunks. */
static enum err task_prune(struct store *store, uint64_t task, size_t *budget, struct error *e)
{
    size_t count;
    uint64_t last;
    enum err r = chunks_take(store, task, *budget, &count, &last, e);
    if (r == ERR_OK && count > 0) {
        sqlite3_stmt *stmt = store->stmt[STMT_CHUNK_DELETE];
        db_bind_u64(stmt, 1, task);
        db_bind_i64(stmt, 2, (int64_t)last); /* negative in a damaged row */
        r = db_run(stmt, "delete output", e);
    }
    if (r != ERR_OK) {
        return r;
    }
    *budget -= count;
    if (*budget == 0) {
        return ERR_OK;
    }
    (*budget)--;
    db_bind_u64(store->stmt[STMT_ATTEMPT_DELETE], 1, task);
    r = db_run(store->stmt[STMT_ATTEMPT_DELETE], "delete the attempts of an ended task", e);
    if (r != ERR_OK) {
        return r;
    }
    db_bind_u64(store->stmt[STMT_HISTORY_DELETE], 1, task);
    return db_run(store->stmt[STMT_HISTORY_DELETE], "delete an ended task", e);
}

enum err store_prune_task(struct store *store, uint64_t task, struct error *e)
{
    size_t budget = INT32_MAX; /* all that there is of one task */
    return task_prune(store, task, &budget, e);
}

static enum err history_prune(struct store *store, int64_t before_ms, size_t *budget,
                              struct error *e)
{
    sqlite3_stmt *stmt = store->stmt[STMT_HISTORY_OLDEST];
    while (*budget > 0) {
        int64_t task;
        db_bind_i64(stmt, 1, before_ms);
        enum err r = db_number(stmt, 0, &task, e);
        if (r != ERR_OK || task == 0) {
            return r;
        }
        r = task_prune(store, (uint64_t)task, budget, e);
        if (r != ERR_OK) {
            return r;
        }
    }
    return ERR_OK;
}

static enum err facts_prune(struct store *store, size_t *budget, struct error *e)
{
    int64_t first;
    uint64_t snapshot;
    enum err r = db_number(store->stmt[STMT_FACT_FIRST], 0, &first, e);
    if (r == ERR_OK) {
        r = second_snapshot(store, &snapshot, e);
    }
    if (r != ERR_OK || first == 0 || snapshot <= store->facts_keep) {
        return r;
    }
    uint64_t to = snapshot - store->facts_keep;
    if (to < (uint64_t)first || *budget == 0) {
        return ERR_OK;
    }
    uint64_t count = to - (uint64_t)first + 1;
    count = count < *budget ? count : *budget;
    *budget -= count;
    db_bind_u64(store->stmt[STMT_FACT_PRUNE], 1, (uint64_t)first + count - 1);
    return db_run(store->stmt[STMT_FACT_PRUNE], "delete old facts", e);
}

static enum err rows_prune(struct store *store, int64_t now_ms, size_t *budget, struct error *e)
{
    enum err r = db_run(store->stmt[STMT_BEGIN], "begin a transaction", e);
    if (r == ERR_OK && store->history_keep_ms > 0) {
        r = history_prune(store, now_ms - store->history_keep_ms, budget, e);
    }
    if (r == ERR_OK) {
        const bool keep = store->history_keep_ms == 0;
        r = store_usage_prune(store, now_ms, keep ? 0 : now_ms - store->history_keep_ms, budget, e);
    }
    if (r == ERR_OK) {
        r = facts_prune(store, budget, e);
    }
    return r == ERR_OK ? db_run(store->stmt[STMT_COMMIT], "commit", e) : r;
}

/* Removes the rows of up to PRUNE_FILES_MAX segments without chunks. */
static enum err segments_forget(struct store *store, struct datadir_numbers *gone, struct error *e)
{
    sqlite3_stmt *empty = store->stmt[STMT_SEGMENT_EMPTY];
    sqlite3_stmt *delete = store->stmt[STMT_SEGMENT_DELETE];
    enum err r = db_run(store->stmt[STMT_BEGIN], "begin a transaction", e);
    db_bind_u64(empty, 1, logstore_segment(store->log));
    db_bind_i64(empty, 2, PRUNE_FILES_MAX);
    for (bool row = true; r == ERR_OK && row;) {
        r = db_row(empty, &row, "read the log index", e);
        if (r == ERR_OK && row) {
            vec_push(gone, db_u64(empty, 0));
        }
    }
    for (size_t i = 0; r == ERR_OK && i < gone->count; i++) {
        db_bind_u64(delete, 1, gone->at[i]);
        r = db_run(delete, "forget a log segment", e);
    }
    return r == ERR_OK ? db_run(store->stmt[STMT_COMMIT], "commit", e) : r;
}

static enum err segments_prune(struct store *store, bool *ret_more, struct error *e)
{
    *ret_more = false;
    if (!datadir_removal_begin(store->lock_fd)) {
        return ERR_OK; /* a backup or check reads the files; the next call tries again */
    }
    struct datadir_numbers gone = {0};
    enum err r = segments_forget(store, &gone, e);
    for (size_t i = 0; r == ERR_OK && i < gone.count; i++) {
        struct path path = datadir_segment(store->dir, gone.at[i]);
        (void)unlink(path.text);
    }
    *ret_more = gone.count == PRUNE_FILES_MAX;
    vec_done(&gone);
    datadir_removal_end(store->lock_fd);
    return r;
}

enum err store_prune(struct store *store, int64_t now_ms, bool *ret_more, struct error *e)
{
    enum err r = store_sync_up(store, e);
    if (r != ERR_OK) {
        return r;
    }
    size_t budget = PRUNE_ROWS_MAX;
    bool more_files = false;
    r = rows_prune(store, now_ms, &budget, e);
    if (r == ERR_OK) {
        r = segments_prune(store, &more_files, e);
    }
    if (r != ERR_OK) {
        store_commit_undo(store);
        return r;
    }
    store_commit_note(store);
    *ret_more = budget == 0 || more_files;
    return ERR_OK;
}

static bool segment_orphaned(struct store *store, uint64_t segment)
{
    int64_t known;
    db_bind_u64(store->stmt[STMT_SEGMENT_KNOWN], 1, segment);
    return db_number(store->stmt[STMT_SEGMENT_KNOWN], 0, &known, NULL) == ERR_OK && known == 0;
}

void store_prune_orphans(struct store *store)
{
    struct datadir_numbers numbers;
    if (!datadir_removal_begin(store->lock_fd)) {
        return;
    }
    if (datadir_list(store->dir, "log", ".seg", &numbers, NULL) == ERR_OK) {
        /* The current segment and later segments stay: the writer may overwrite them. */
        uint64_t current = logstore_segment(store->log);
        for (size_t i = 0; i < numbers.count && numbers.at[i] < current; i++) {
            struct path path = datadir_segment(store->dir, numbers.at[i]);
            if (segment_orphaned(store, numbers.at[i])) {
                (void)unlink(path.text);
            }
        }
        vec_done(&numbers);
    }
    datadir_removal_end(store->lock_fd);
}
