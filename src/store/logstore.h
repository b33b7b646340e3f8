/* logstore.h - output of tasks in append-only segment files, log/NNNNNNNN.seg.
 *
 *   segment:  16 bytes head │ record │ record │ …          at most LOG_SEGMENT_BYTES
 *   record:   40 bytes head (whose output, where in it, length, checksum) │ data
 *
 * Only what an index elsewhere (table log_chunk) names is data: a crash or a failed transaction
 * leaves bytes behind the last named record, and they are written over. A record is found by its
 * place, segment * 2^32 + position; places grow in order of arrival.
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

/* Whose bytes: one stream of one attempt, from `offset` on. */
struct log_key {
    uint64_t task;
    uint64_t offset;
    uint32_t index;
    uint32_t attempt;
    uint32_t stream;
};

/* ---- the one writer ---- */

struct logstore;

/* A writer that goes on in `segment` at `bytes`, as the index vouches (1 and 0 at first). Opens
 * nothing yet. `dir` is the data directory. */
struct logstore *logstore_new(const char *dir, uint64_t segment, uint64_t bytes);
void logstore_free(struct logstore *log);

/* Where the next record of `len` bytes will lie; starts the next segment when this one is full. */
must_use enum err logstore_place(struct logstore *log, size_t len, uint64_t *ret_place,
                                 struct error *e);

/* Appends at the place logstore_place() named; 1..LOG_RECORD_BYTES_MAX bytes. Kept in memory until
 * there is a block of it. */
must_use enum err logstore_append(struct logstore *log, const struct log_key *key, struct str data,
                                  struct error *e);

/* Everything appended is on disk. Cheap when nothing was. */
must_use enum err logstore_flush(struct logstore *log, struct error *e);

/* What was appended since the last of these two calls counts, or never happened. */
void logstore_keep(struct logstore *log);
void logstore_undo(struct logstore *log);

/* Where the next record would begin. */
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

/* The data of that record, in `arena`. ERR_NOT_FOUND: the segment is gone (pruned). ERR_CORRUPT,
 * naming file and position: it is not there, another's, or damaged. */
must_use enum err logstore_reader_read(struct log_reader *reader, const struct log_ref *ref,
                                       struct arena *arena, struct str *ret, struct error *e);
