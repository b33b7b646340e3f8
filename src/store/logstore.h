/* logstore.h - output of tasks in append-only segment files, log/NNNNNNNN.seg.
 *
 *   segment:  16 bytes head │ record │ record │ …          at most LOG_SEGMENT_BYTES
 *   record:   40 bytes head (attempt, stream, offset, length, checksum) │ data
 *
 * Only records that the index (table log_chunk) names are data. A crash or a failed transaction
 * leaves bytes behind the last named record; the next record overwrites them. A record is found by
 * its place, segment * 2^32 + position. Places grow in order of arrival.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/arena.h"
#include "base/fail.h"
#include "base/str.h"

#include <stdint.h>

enum {
    LOG_SEGMENT_BYTES = 64 * 1024 * 1024,
    LOG_RECORD_BYTES_MAX = 256 * 1024, /* data of one record */
    LOG_RECORD_HEAD = 40,
    LOG_SEGMENT_HEAD = 16,
};

static inline uint64_t log_place_segment(uint64_t place)
{
    return place >> 32;
}

static inline uint64_t log_place_position(uint64_t place)
{
    return place & UINT32_MAX;
}

/* The owner of a record's bytes: one stream of one attempt, from `offset` on. */
struct log_key {
    uint64_t task;
    uint64_t offset;
    uint32_t index;
    uint32_t attempt;
    uint32_t stream;
};

/* ---- the single writer ---- */

struct logstore;

/* A writer that goes on in `segment` at position `bytes`, as the index says (1 and 0 at first).
 * Opens no file yet. `dir` is the data directory. */
struct logstore *logstore_new(const char *dir, uint64_t segment, uint64_t bytes);
void logstore_free(struct logstore *log);

/* Where the next record of `len` bytes will lie. Begins the next segment when the current segment
 * is full. */
must_use enum err logstore_place(struct logstore *log, size_t len, uint64_t *ret_place,
                                 struct error *e);

/* Appends 1..LOG_RECORD_BYTES_MAX bytes at the place that logstore_place() named. The record stays
 * in memory until a whole block is gathered. */
must_use enum err logstore_append(struct logstore *log, const struct log_key *key, struct str data,
                                  struct error *e);

/* Puts everything appended on disk. Cheap when nothing was appended. */
must_use enum err logstore_flush(struct logstore *log, struct error *e);

/* logstore_keep() keeps the records appended since the last of these two calls; logstore_undo()
 * drops them. */
void logstore_keep(struct logstore *log);
void logstore_undo(struct logstore *log);

/* The segment and position where the next record would begin. */
uint64_t logstore_segment(const struct logstore *log);
uint64_t logstore_bytes(const struct logstore *log);

/* ---- readers ---- */

struct log_reader;

struct log_reader *logstore_reader_new(const char *dir);
void logstore_reader_free(struct log_reader *reader);

/* A record as the index names it. */
struct log_ref {
    uint64_t place;
    struct log_key key;
    size_t len;
};

/* Reads the data of the record into `arena`. ERR_NOT_FOUND: the segment was pruned. ERR_CORRUPT,
 * naming file and position: the record is missing, another record, or damaged. */
must_use enum err logstore_reader_read(struct log_reader *reader, const struct log_ref *ref,
                                       struct arena *arena, struct str *ret, struct error *e);

/* ERR_CORRUPT: the head of the segment's file is damaged. ERR_NOT_FOUND: there is no such file. */
must_use enum err logstore_reader_head(struct log_reader *reader, uint64_t segment,
                                       struct error *e);
