/* frame.h - the messages between agent and supervisor on D/supervisor.sock. A message is a length
 * of four bytes, least significant byte first, then the content in the encoding of base/bytes.h.
 * The supervisor speaks first: HELLO, one ATTEMPT for each attempt it knows, READY. Reports about
 * tasks never travel here: they stand in the spool, and GROWN says how far the spool goes.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "agent/limits.h"
#include "agent/spool.h"
#include "base/arena.h"
#include "base/buf.h"
#include "core/model/ids.h"

/* Version 2 has TROUBLE, RENEW and BYE. An agent also speaks to a supervisor of version 1. */
/* Version 3: HELLO says what the node can limit; START has more members (start_put() in frame.c); USE. */
/* Version 6: HELLO says how tasks are confined. */
enum { FRAME_VERSION_MIN = 1, FRAME_VERSION = 6, FRAME_HEAD_LEN = 4 };
enum { FRAME_VERSION_BYE = 2, FRAME_VERSION_LIMITS = 3, FRAME_VERSION_NETWORKS = 4 };
enum { FRAME_VERSION_OUTBOUND = 5, FRAME_VERSION_CONFINE = 6 };

enum frame_type {
    FRAME_NONE,
    FRAME_HELLO,   /* supervisor: version, id, pid, acknowledged and written positions */
    FRAME_ATTEMPT, /* supervisor: key; whether the attempt has ended */
    FRAME_READY,   /* supervisor: all ATTEMPTs have been sent */
    /* Supervisor: the spool goes up to `at` and holds the first `starts` STARTs of the connection. */
    FRAME_GROWN,
    FRAME_START,   /* agent: a start order */
    FRAME_STOP,    /* agent: key, grace */
    FRAME_ACK,     /* agent: the server has every record before `at` */
    FRAME_LIST,    /* agent: send all ATTEMPTs and READY again */
    FRAME_TROUBLE, /* supervisor: why the node is out of service; "": it is in service */
    FRAME_RENEW,   /* agent: the spool is damaged, begin a new segment */
    /* Agent: the agent ends. A supervisor with nothing to do ends too; else it answers READY. */
    FRAME_BYE,
    FRAME_USE, /* supervisor: what a running attempt uses now */
};

/* Everything needed to start one attempt. The texts are borrowed. */
struct start_order {
    struct attempt_key key;
    uint64_t instance; /* the value of INSTANCE_ID */
    const char *const *argv;
    size_t argv_count;
    const char *const *env; /* the task's own variables, each "K=V" */
    size_t env_count;
    const char *workdir; /* "": run in the job directory */
    const char *pool;
    const char *node;
    uint64_t slots_milli;
    const uint32_t *devices;
    size_t device_count;
    uint64_t rank;
    uint64_t world_size; /* above 1: the task is a gang */
    const char *master_addr;
    uint64_t master_port;
    uint64_t output_max; /* bytes of each output stream */
    /* Since version 3; 0 from an older agent. */
    uint64_t cpu_milli;       /* what the task holds: its weight against other tasks */
    uint64_t cpu_limit_milli; /* 0: no limit */
    uint64_t memory_limit;    /* bytes; 0: no limit */
    const char *network;      /* since version 4: what tasknet.h calls it; "": the node's own */
    /* since version 5: the range of addresses of a network with a way out; "": no way out */
    const char *outbound;
};

/* What an attempt uses. */
struct frame_use {
    int64_t at_ms; /* wall clock */
    uint64_t cpu_ms;
    uint64_t memory_bytes;
    uint64_t memory_peak;
    uint64_t devices; /* the devices that it holds, one bit each */
};

/* A message. The comment of a member names the types of messages that have the member. */
struct frame {
    enum frame_type type;
    struct attempt_key key;              /* ATTEMPT, STOP, USE */
    bool ended;                          /* ATTEMPT */
    int64_t grace_ms;                    /* STOP */
    struct spool_position at;            /* GROWN, ACK; HELLO: written so far */
    struct spool_position acked;         /* HELLO */
    uint64_t version;                    /* HELLO; START: the version of the supervisor */
    uint64_t cgroup_mode;                /* HELLO: enum cgroup_mode */
    uint64_t cgroup_controllers;         /* HELLO: bits of cgroup_layout.h */
    uint64_t confine;                    /* HELLO: bits of confine.h */
    uint64_t pid;                        /* HELLO */
    unsigned char id[SUPERVISOR_ID_LEN]; /* HELLO */
    uint64_t starts;                     /* GROWN */
    const char *trouble;                 /* TROUBLE */
    struct frame_use use;                /* USE */
    struct start_order start;            /* START; the texts are in the decoder's arena */
};

/* Appends one whole message, its length included. */
void frame_put(struct buf *out, const struct frame *frame);

/* Decodes the first message of `data`. Returns the message's full length, 0 when the message is not
 * complete, or -1 when it is malformed or longer than FRAME_BYTES_MAX. Texts of *ret are in the
 * arena. */
long frame_get(const char *data, size_t len, struct arena *arena, struct frame *ret);
