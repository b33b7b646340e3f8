/* record.h - one event of an attempt, as the spool holds it: length and checksum of four bytes
 * each, then the record in the encoding of base/bytes.h. SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "agent/limits.h"
#include "base/arena.h"
#include "base/buf.h"
#include "base/str.h"
#include "core/model/ids.h"

#include <stdbool.h>

enum { RECORD_HEAD_LEN = 8 };

enum record_kind {
    RECORD_NONE,
    /* First of each segment: the supervisor that writes it, and the open attempts. */
    RECORD_SEGMENT,
    RECORD_ACCEPTED, /* an attempt is about to start: recorded before its process can exist */
    RECORD_STARTED,
    RECORD_OUTPUT,
    RECORD_ENDED,
    RECORD_SPAWN_FAILED,
    /* A start was asked for again, and the attempt's outcome is no longer known here. */
    RECORD_LOST,
    RECORD_CHECKPOINT, /* the task has saved its work up to `at_ms` */
};
enum { RECORD_TYPE_LAST = RECORD_CHECKPOINT };

/* A record. The comment of a member names the types of records that have the member. */
struct record {
    enum record_kind type;
    struct attempt_key key;
    int64_t at_ms; /* STARTED, ENDED, SPAWN_FAILED, CHECKPOINT: wall clock */
    uint64_t pid;  /* STARTED */
    /* STARTED; false: the attempt runs in the job directory, not in the task's workdir */
    bool workdir_used;
    unsigned stream; /* OUTPUT: 1 or 2 */
    uint64_t offset; /* OUTPUT */
    struct str data; /* OUTPUT; borrowed */
    int exit_code;   /* ENDED: 0..255, or 128 + signal */
    uint64_t out_bytes;
    uint64_t err_bytes;
    uint64_t cpu_ms;
    uint64_t memory_peak;
    bool out_of_memory; /* ENDED: the kernel ended it, because it was over its memory */
    /* ENDED: the supervisor ended the attempt, because it used more disk than it may */
    bool out_of_disk;
    int error_number; /* SPAWN_FAILED */
    struct str message;
    unsigned char id[SUPERVISOR_ID_LEN]; /* SEGMENT */
    const struct attempt_key *open;      /* SEGMENT; the decoder puts the list into the arena */
    size_t open_count;
};

void record_encode(struct buf *out, const struct record *record);

/* Leaves room for `len` bytes of output at the end of `out`. record_output_end() completes the
 * record with the bytes read there, or removes the room when nothing was read. */
char *record_output_begin(struct buf *out, size_t len);
void record_output_end(struct buf *out, const struct record *record, size_t len);

/* Decodes the first record of `data`. Returns its full length, 0 when the record is not complete,
 * or -1 when it is malformed. */
long record_decode(const char *data, size_t len, struct arena *arena, struct record *ret);
