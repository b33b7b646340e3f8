/* frame.h - the messages between agent and supervisor on D/supervisor.sock: a length of four bytes,
 * little end first, then the message in base/bytes.h coding. The supervisor speaks first: HELLO,
 * one ATTEMPT for each it knows, READY. What happened to tasks never travels here: it is in the
 * spool, and GROWN says how far. SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "agent/limits.h"
#include "agent/spool.h"
#include "base/arena.h"
#include "base/buf.h"
#include "core/model/ids.h"

enum { FRAME_VERSION = 1, FRAME_HEAD_LEN = 4 };

enum frame_type {
    FRAME_NONE,
    FRAME_HELLO,   /* supervisor: version, id, pid, acknowledged and written positions */
    FRAME_ATTEMPT, /* supervisor: key, running or ended */
    FRAME_READY,   /* supervisor: all ATTEMPTs have been said */
    FRAME_GROWN,   /* supervisor: the spool goes up to `at`, and the first `starts` STARTs of this
                      connection are in it */
    FRAME_START,   /* agent */
    FRAME_STOP,    /* agent: key, grace */
    FRAME_ACK,     /* agent: the server has everything before `at` */
    FRAME_LIST,    /* agent: say all ATTEMPTs and READY again */
};

/* Everything needed to start one attempt. Texts are borrowed. */
struct start_order {
    struct attempt_key key;
    uint64_t instance; /* INSTANCE_ID */
    const char *const *argv;
    size_t argv_count;
    const char *const *env; /* the task's own, K=V */
    size_t env_count;
    const char *workdir; /* "": the job directory */
    const char *pool;
    const char *node;
    uint64_t slots_milli;
    const uint32_t *devices;
    size_t device_count;
    uint64_t rank;
    uint64_t world_size; /* above 1: a gang */
    const char *master_addr;
    uint64_t master_port;
    uint64_t output_max; /* bytes of each stream */
};

struct frame {
    enum frame_type type;
    struct attempt_key key;              /* ATTEMPT, STOP */
    bool ended;                          /* ATTEMPT */
    int64_t grace_ms;                    /* STOP */
    struct spool_position at;            /* GROWN, ACK; HELLO: written so far */
    struct spool_position acked;         /* HELLO */
    uint64_t version;                    /* HELLO */
    uint64_t pid;                        /* HELLO */
    unsigned char id[SUPERVISOR_ID_LEN]; /* HELLO */
    uint64_t starts;                     /* GROWN */
    struct start_order start;            /* START, in the decoder's arena */
};

/* Appends one whole message, length included. */
void frame_put(struct buf *out, const struct frame *frame);

/* Takes the first whole message off data: its full length, 0 when it is not all there yet, or -1
 * when it is malformed or over FRAME_BYTES_MAX. Texts of *ret are in the arena. */
long frame_get(const char *data, size_t len, struct arena *arena, struct frame *ret);
