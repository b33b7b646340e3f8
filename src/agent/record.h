/* record.h - one thing that happened to an attempt, as the spool holds it: length and checksum of
 * four bytes each, then the record in base/bytes.h coding. SPDX-License-Identifier: Apache-2.0 */
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
    RECORD_SEGMENT, /* first of each segment: whose it is, and the attempts without an end so far */
    RECORD_ACCEPTED, /* about to be started: on file before the process can exist */
    RECORD_STARTED,
    RECORD_OUTPUT,
    RECORD_ENDED,
    RECORD_SPAWN_FAILED,
    RECORD_LOST,       /* asked again for an attempt whose outcome is no longer known here */
    RECORD_CHECKPOINT, /* it has saved what it did until then */
};
enum { RECORD_TYPE_LAST = RECORD_CHECKPOINT };

struct record {
    enum record_kind type;
    struct attempt_key key;
    int64_t at_ms;     /* STARTED, ENDED, SPAWN_FAILED, CHECKPOINT: wall clock */
    uint64_t pid;      /* STARTED */
    bool workdir_used; /* STARTED: false: it runs in the job directory, not in the one asked for */
    unsigned stream;   /* OUTPUT: 1 or 2 */
    uint64_t offset;   /* OUTPUT */
    struct str data;   /* OUTPUT; borrowed */
    int exit_code;     /* ENDED: 0..255, or 128 + signal */
    uint64_t out_bytes;
    uint64_t err_bytes;
    uint64_t cpu_ms;
    uint64_t memory_peak;
    int error_number; /* SPAWN_FAILED */
    struct str message;
    unsigned char id[SUPERVISOR_ID_LEN]; /* SEGMENT */
    const struct attempt_key *open;      /* SEGMENT; decoded into the arena */
    size_t open_count;
};

void record_encode(struct buf *out, const struct record *record);

/* Room for `len` bytes of output is left at the end of `out`; record_output_end() completes the
 * record with what was read there, or takes it away again when nothing was. */
char *record_output_begin(struct buf *out, size_t len);
void record_output_end(struct buf *out, const struct record *record, size_t len);

/* Takes the first record off data: its full length, 0 when it is not all there, -1 when it is
 * malformed. */
long record_decode(const char *data, size_t len, struct arena *arena, struct record *ret);
