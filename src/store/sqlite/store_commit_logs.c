/* store_commit_logs.c - writes output into the segments, and its rows into the index.
 *
 * An agent repeats a batch whose answer was lost, perhaps cut differently. A small cache holds the
 * known end of each stream. The first piece of a stream (offset 0) is tried without a look-up: the
 * primary key refuses a known piece. So the usual piece costs one insert and no look-up.
 * SPDX-License-Identifier: Apache-2.0 */
#include "store/sqlite/store_internal.h"

#include "base/hash.h"

#include <inttypes.h>

static struct stream_end *end_slot(struct store *store, const struct store_log *log)
{
    uint64_t hash = hash_u64(log->task ^ ((uint64_t)log->index << 40));
    hash = hash_u64(hash ^ ((uint64_t)log->attempt << 8 | log->stream));
    return &store->ends[hash % STREAM_ENDS];
}

static bool slot_is(const struct stream_end *slot, const struct store_log *log)
{
    return slot->task == log->task && slot->index == log->index && slot->attempt == log->attempt &&
           slot->stream == log->stream;
}

/* Looks up how far the index knows the stream. */
static enum err end_look_up(struct store *store, const struct store_log *log, uint64_t *ret_end,
                            struct error *e)
{
    sqlite3_stmt *stmt = store->stmt[STMT_CHUNK_END];
    db_bind_u64(stmt, 1, log->task);
    db_bind_i64(stmt, 2, log->index);
    db_bind_i64(stmt, 3, log->attempt);
    db_bind_i64(stmt, 4, log->stream);
    int64_t end;
    enum err r = db_number(stmt, 0, &end, e);
    if (r == ERR_OK) {
        *ret_end = (uint64_t)end;
    }
    return r;
}

/* Adds the index row of one record. *ret_new is false when the index has a row with this offset. */
static enum err row_put(struct store *store, const struct store_log *log, uint64_t place,
                        bool *ret_new, struct error *e)
{
    sqlite3_stmt *stmt = store->stmt[STMT_CHUNK_PUT];
    db_bind_u64(stmt, 1, log->task);
    db_bind_i64(stmt, 2, log->index);
    db_bind_i64(stmt, 3, log->attempt);
    db_bind_i64(stmt, 4, log->stream);
    db_bind_u64(stmt, 5, log->offset);
    db_bind_u64(stmt, 6, log->data.len);
    db_bind_i64(stmt, 7, log->time_ms);
    db_bind_u64(stmt, 8, place);
    enum err r = db_run(stmt, "index a piece of output", e);
    if (r == ERR_OK) {
        *ret_new = sqlite3_changes(store->db) > 0;
    }
    return r;
}

static enum err count_put(struct store *store, const struct segment_count *count, struct error *e)
{
    if (count->chunks == 0) {
        return ERR_OK;
    }
    sqlite3_stmt *stmt = store->stmt[STMT_SEGMENT_ADD];
    db_bind_u64(stmt, 1, count->segment);
    db_bind_u64(stmt, 2, count->chunks);
    db_bind_u64(stmt, 3, count->bytes);
    return db_run(stmt, "count a log segment", e);
}

/* Adds one record of at most LOG_RECORD_BYTES_MAX bytes, all behind the stream's end in the
 * cache. */
static enum err record_put(struct store *store, const struct store_log *log, bool *ret_new,
                           struct segment_count *count, struct error *e)
{
    uint64_t place;
    enum err r = logstore_place(store->log, log->data.len, &place, e);
    if (r == ERR_OK) {
        r = row_put(store, log, place, ret_new, e);
    }
    if (r != ERR_OK || !*ret_new) {
        return r;
    }
    if (log_place_segment(place) != count->segment) {
        r = count_put(store, count, e);
        if (r != ERR_OK) {
            return r;
        }
        *count = (struct segment_count){.segment = log_place_segment(place)};
    }
    struct log_key key = {.task = log->task,
                          .offset = log->offset,
                          .index = log->index,
                          .attempt = log->attempt,
                          .stream = log->stream};
    r = logstore_append(store->log, &key, log->data, e);
    count->chunks++;
    count->bytes = logstore_bytes(store->log);
    return r;
}

/* Cuts the part of the piece before `end` off. False: nothing of the piece lies behind `end`. */
static bool piece_trim(struct store_log *piece, uint64_t end)
{
    if (piece->offset < end) {
        uint64_t known = end - piece->offset;
        if (known >= piece->data.len) {
            return false;
        }
        piece->offset += known;
        piece->data.p += known;
        piece->data.len -= known;
    }
    return piece->data.len > 0;
}

static enum err piece_put(struct store *store, struct store_log piece, struct segment_count *count,
                          struct error *e)
{
    struct stream_end *slot = end_slot(store, &piece);
    uint64_t end = slot_is(slot, &piece) ? slot->end : 0;
    if (!slot_is(slot, &piece) && piece.offset > 0) {
        enum err r = end_look_up(store, &piece, &end, e);
        if (r != ERR_OK) {
            return r;
        }
    }
    while (piece_trim(&piece, end)) {
        struct store_log record = piece;
        if (record.data.len > LOG_RECORD_BYTES_MAX) {
            record.data.len = LOG_RECORD_BYTES_MAX;
        }
        bool is_new = false;
        enum err r = record_put(store, &record, &is_new, count, e);
        if (r == ERR_OK && !is_new) {
            r = end_look_up(store, &piece, &end, e);
            /* Where no whole row tells the end, the row at this offset is damaged and keeps its place. */
            end = end > record.offset ? end : record.offset + record.data.len;
        } else if (r == ERR_OK) {
            end = record.offset + record.data.len;
        }
        if (r != ERR_OK) {
            return r;
        }
    }
    *slot = (struct stream_end){.task = piece.task,
                                .end = end,
                                .index = piece.index,
                                .attempt = piece.attempt,
                                .stream = piece.stream};
    return ERR_OK;
}

enum err store_commit_logs(struct store *store, const struct store_log *logs, size_t count,
                           struct error *e)
{
    struct segment_count counted = {0};
    for (size_t i = 0; i < count; i++) {
        if (logs[i].task == 0 || logs[i].task > INT64_MAX || logs[i].data.len > INT32_MAX ||
            logs[i].offset > STORE_LOG_OFFSET_MAX - logs[i].data.len) {
            return fail(e, ERR_INVALID,
                        "output of task %" PRIu64 ": offset %" PRIu64 " is over %" PRIu64,
                        logs[i].task, logs[i].offset, STORE_LOG_OFFSET_MAX);
        }
        if (logs[i].data.len == 0) {
            continue;
        }
        enum err r = piece_put(store, logs[i], &counted, e);
        if (r != ERR_OK) {
            return r;
        }
    }
    enum err r = count_put(store, &counted, e);
    return r == ERR_OK ? logstore_flush(store->log, e) : r;
}
