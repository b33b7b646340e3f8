/* agent.h - the messages between server and agent (docs/dev/formats/agent-protocol.md) in both
 * directions. The server encodes orders and decodes hellos and reports; the agent does the
 * reverse.
 *
 * Decoders treat a message as hostile: every number, text and list is bounded. Decoders ignore
 * unknown fields, because the other side may be newer. Decoded texts live in the arena. Encoders
 * append one JSON object without a line end.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/arena.h"
#include "base/buf.h"
#include "base/fail.h"
#include "base/json_out.h"
#include "base/str.h"
#include "core/model/input.h"
#include "core/model/ids.h"
#include "core/model/spec.h"
#include "core/model/task.h"

enum { AGENT_PROTOCOL_MIN = 1, AGENT_PROTOCOL_MAX = 1 };
enum {
    AGENT_REPORT_BYTES_MAX = 4 * 1024 * 1024, /* body of one batch of reports */
    AGENT_ORDER_BYTES_MAX = 4 * 1024 * 1024,  /* one line of the stream */
    AGENT_HELLO_BYTES_MAX = 8 * 1024 * 1024,
    AGENT_JOIN_BYTES_MAX = 4096,
    AGENT_ATTEMPTS_MAX = 100000, /* of a hello */
    AGENT_REPORTS_MAX = 100000,  /* of a batch */
    AGENT_TEXT_MAX = 4096,       /* addresses, messages, directories */
    AGENT_CREDENTIAL_MAX = 255,
    AGENT_MACHINE_LEN = 32,
    AGENT_PEM_MAX = 2048, /* a node's certificate, or the request for one */
    /* Bytes that an agent keeps of each output stream of an attempt, and the largest offset of a
     * piece: a line behind the last byte says that the rest was dropped. */
    AGENT_STREAM_BYTES_MAX = 64 * 1024 * 1024,
    AGENT_OFFSET_MAX = AGENT_STREAM_BYTES_MAX + 4096,
};
/* The largest number that an agent may report: every number of JSON up to it is exact, and sums of
 * a thousand of them fit 64 bits. */
#define AGENT_NUMBER_MAX ((int64_t)1 << 53)

/* ---- join ---- */

struct agent_join {
    const char *name;
    const char *pool; /* "": the pool of the join token */
    const char
        *machine; /* 32 hex digits that only this machine's agent knows; "": an older agent */
    const char *request; /* for the node's first certificate; "": no TLS */
};
struct agent_joined {
    const char *node;
    const char *credential;
    const char *certificate; /* "": no TLS */
};

/* A node asks for its next certificate. */
struct agent_certify {
    const char *request;
};
struct agent_certified {
    const char *certificate;
    int64_t renew_ms; /* after how long the node asks again */
};

void agent_join_encode(const struct agent_join *join, struct buf *out);
must_use enum err agent_join_decode(struct str text, struct arena *arena, struct agent_join *ret,
                                    struct error *e);
void agent_joined_encode(const struct agent_joined *joined, struct buf *out);
must_use enum err agent_joined_decode(struct str text, struct arena *arena,
                                      struct agent_joined *ret, struct error *e);

void agent_certify_encode(const struct agent_certify *certify, struct buf *out);
must_use enum err agent_certify_decode(struct str text, struct arena *arena,
                                       struct agent_certify *ret, struct error *e);
void agent_certified_encode(const struct agent_certified *certified, struct buf *out);
must_use enum err agent_certified_decode(struct str text, struct arena *arena,
                                         struct agent_certified *ret, struct error *e);

/* ---- hello ---- */

enum agent_attempt_state { AGENT_ATTEMPT_STARTING, AGENT_ATTEMPT_RUNNING, AGENT_ATTEMPT_ENDED };

struct agent_attempt {
    struct attempt_key key;
    enum agent_attempt_state state;
};

struct agent_hello {
    uint32_t protocol_min;
    uint32_t protocol_max;
    uint64_t epoch_seen;
    uint64_t fact_seen; /* the highest `fact` of an order; 0: none yet */
    int64_t stop_after_ms;
    /* Sent for a supervisor that is gone, only to report what became of its attempts. */
    bool closing;
    /* Name, pool, labels, capacity, supervisor, boot id, address; `version` is that of the
     * agent's build. */
    struct node_spec node;
    /* Attempts of the supervisor whose end the server has not acknowledged. */
    const struct agent_attempt *attempts;
    uint32_t attempt_count;
};

void agent_hello_encode(const struct agent_hello *hello, struct buf *out);
must_use enum err agent_hello_decode(struct str text, struct arena *arena, struct agent_hello *ret,
                                     struct error *e);

/* ---- orders ---- */

enum agent_order_type {
    AGENT_WELCOME,
    AGENT_START,
    AGENT_STOP,
    AGENT_PING,
    AGENT_BYE,
    AGENT_ASK, /* the server wants to know something; the answer is a request of its own */
    AGENT_TUNNEL,
    AGENT_OTHER, /* a type that this build does not know; the answer is a `refused` report */
};

struct agent_welcome {
    uint32_t protocol;
    const char *node;
    int64_t now_ms;
    int64_t heartbeat_ms;
    int64_t lost_after_ms;
    uint64_t report_bytes_max;
};

struct agent_start {
    struct attempt_key key;
    uint32_t instance;       /* INSTANCE_ID of the environment: array_first + key.index */
    const char *const *argv; /* a decoded argv ends with NULL */
    uint32_t argv_count;
    const char *const *env; /* environment of the task, "K=V" */
    uint32_t env_count;
    const char *workdir;
    const char *image;  /* "": none */
    const char *upload; /* a digest; "": none */
    const char *const *mounts;
    uint32_t mount_count;
    const char *job_user;
    int64_t slots_milli;
    uint64_t devices; /* one bit for each device */
    int64_t cpu_milli;
    int64_t memory_bytes;
    int64_t cpu_limit_milli;    /* most of the processors; 0: no limit */
    int64_t memory_limit_bytes; /* 0: no limit */
    const char *pool;
    const char *node;
    uint32_t rank;
    uint32_t world_size;
    const char *master_addr; /* "": the task is no gang */
    uint32_t master_port;
    const char *network; /* "": the node's own; "isolated", or the name of a network. Then: */
    const char *project;
    const char *user;
    /* "": the network has no way out; else the range of the network's addresses */
    const char *outbound;
    int64_t grace_ms;
    uint64_t output_max; /* bytes kept of each stream */
    bool terminal;       /* a shell task: runs under a terminal to which people attach */
};

struct agent_stop {
    struct attempt_key key;
    int64_t grace_ms;
    enum end_cause cause; /* END_NONE: a cause that this build does not know */
};

enum { AGENT_TUNNEL_ID_LEN = 32, AGENT_TUNNEL_WHAT_MAX = 16 };

/* Opens a connection from the node to the server that carries bytes of a process or port. */
struct agent_tunnel {
    struct attempt_key key;  /* of an attempt that runs on the node */
    const char *id;          /* hex digits; names the tunnel at the server */
    const char *what;        /* "exec", "attach" or "port" */
    const char *const *argv; /* exec: the program */
    uint32_t argv_count;
    const char *terminal; /* exec, attach: "24x80", rows and columns; "": no terminal */
    const char *term;     /* the value of TERM; "": none */
    uint32_t port; /* port: on the node's own address 127.0.0.1; 0: the attempt's WEIR_PORT */
};

/* A question about the files of an instance, or another one of `what`. The agent answers with
 * POST /agent/answers?ask=ID. An agent that does not know `what` answers so. */
struct agent_ask {
    uint64_t id;
    const char *what; /* "files": a directory or what a file is; "file": a piece of a file */
    uint64_t task;
    uint64_t instance; /* INSTANCE_ID, which names the job directory */
    const char *path;  /* below the job directory; "": the job directory itself */
    const char *after; /* of "files": only names behind this one */
    uint64_t offset;   /* of "file" */
    uint64_t limit;    /* bytes, or names */
};

struct agent_order {
    enum agent_order_type type;
    uint64_t epoch;
    uint64_t fact; /* the newest fact that the server has stored; 0: an older server */
    uint32_t incarnation;
    union {
        struct agent_welcome welcome;
        struct agent_start start;
        struct agent_stop stop;
        struct agent_ask ask;
        struct {
            const char *why;
        } bye;
        struct agent_tunnel tunnel;
        struct {
            const char *type;
            struct attempt_key key; /* all 0: the order names no attempt */
        } other;
    };
};

/* Writes an order, in a few microseconds because every attempt needs one. The type must not be
 * AGENT_OTHER. */
void agent_order_encode(const struct agent_order *order, struct buf *out);
must_use enum err agent_order_decode(struct str text, struct arena *arena, struct agent_order *ret,
                                     struct error *e);

/* ---- reports ---- */

enum agent_report_type {
    AGENT_OUTPUT,
    AGENT_STARTED,
    AGENT_ENDED,
    AGENT_SPAWN_FAILED,
    AGENT_LOST,
    AGENT_REFUSED,
    AGENT_CHECKPOINT,
    AGENT_USE,
    AGENT_REPORT_OTHER, /* a report of a newer agent; the server skips it */
};

struct agent_report {
    enum agent_report_type type;
    struct attempt_key key; /* all 0 only for AGENT_REFUSED and AGENT_REPORT_OTHER */
    int64_t at_ms;
    uint32_t pid;
    bool workdir_missed; /* of AGENT_STARTED; JSON says the opposite, `workdir_used` */
    int32_t exit_code;   /* 0..255; of AGENT_SPAWN_FAILED the errno */
    uint32_t stream;     /* 1 stdout, 2 stderr */
    uint64_t offset;
    struct str data; /* of AGENT_OUTPUT: the decoded bytes */
    uint64_t out_bytes;
    uint64_t err_bytes;
    int64_t cpu_ms;
    int64_t memory_peak_bytes;
    int64_t memory_bytes; /* of AGENT_USE: now */
    bool gpu_known;       /* of AGENT_USE: the next two are known */
    int64_t gpu_milli;    /* how busy its devices are, in thousandths of one */
    int64_t gpu_memory_bytes;
    bool out_of_memory; /* of AGENT_ENDED: ended by the kernel, because it was over its memory */
    /* of AGENT_ENDED: the node ended the attempt, because the attempt used more disk than it may */
    bool out_of_disk;
    const char *text; /* `message` or `why` of the JSON */
};

struct agent_batch {
    uint64_t epoch;
    uint32_t incarnation;
    uint64_t batch;
    const struct agent_report *reports;
    uint32_t count;
};

/* A batch is written piece by piece: begin, add for each report, end. */
void agent_report_batch_begin(struct json_out *j, struct buf *out, const struct agent_batch *batch);
void agent_report_batch_add(struct json_out *j, const struct agent_report *report);
void agent_report_batch_end(struct json_out *j);

must_use enum err agent_report_batch_decode(struct str text, struct arena *arena,
                                            struct agent_batch *ret, struct error *e);

/* Turns a report into an input of the core. False: the report concerns nothing in the core
 * (output, refused, other). */
bool agent_report_input(const struct agent_report *report, uint32_t incarnation,
                        struct report *ret);
