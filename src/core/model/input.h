/* input.h - everything that can happen to the core. The shell stamps each with the time, the actor
 * and the cause.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/model/ids.h"
#include "core/model/spec.h"

#include <stdbool.h>
#include <stdint.h>

struct account_spec; /* core/model/account.h */
struct quota_spec;   /* core/model/quota.h */

enum input_type {
    INPUT_SERVER_START, /* a server process has taken over the state: a new epoch */
    INPUT_POOL_CREATE,
    INPUT_POOL_EDIT,
    INPUT_POOL_DELETE,
    INPUT_NODE_JOIN, /* an agent said hello: creates or updates the node; a new supervisor is a new
                        incarnation */
    INPUT_NODE_SILENT, /* its stream broke */
    INPUT_NODE_LOST,   /* silent for lost_after */
    INPUT_NODE_EDIT,
    INPUT_NODE_REMOVE,
    INPUT_TASK_SUBMIT, /* one or many; all or nothing */
    INPUT_TASK_START,  /* staged -> pending */
    INPUT_TASK_PAUSE,  /* -> paused; running ones stop first */
    INPUT_TASK_ACTIVATE,
    INPUT_TASK_MOVE, /* in the queue */
    INPUT_TASK_KILL,
    INPUT_TASK_EDIT,
    INPUT_REPORT,      /* an agent says what became of an attempt */
    INPUT_TICK,        /* a deadline of query_deadline() has come */
    INPUT_PASS,        /* run the scheduler on one pool */
    INPUT_ACCOUNT_SET, /* create or edit a department or project */
    INPUT_ACCOUNT_DELETE,
    INPUT_QUOTA_SET,
    INPUT_TASK_ADOPT, /* instances that hold places already, elsewhere: a state that is taken over */
};

enum { INPUT_TYPE_COUNT = INPUT_TASK_ADOPT + 1 };

enum report_type {
    REPORT_STARTED,
    REPORT_ENDED, /* exit code or signal */
    REPORT_SPAWN_FAILED,
    REPORT_LOST,       /* the supervisor that ran it is gone */
    REPORT_UNKNOWN,    /* ordered, but this supervisor never saw it: sent by the server after
                       reconciliation */
    REPORT_CHECKPOINT, /* it has saved what it did until `at_ms` */
};

enum { REPORT_TYPE_COUNT = REPORT_CHECKPOINT + 1 };

struct report {
    enum report_type type;
    struct attempt_key key;
    uint32_t incarnation;
    int64_t at_ms;      /* server time as far as known; display only */
    int32_t exit_code;  /* 0..255, or 128 + signal; errno for REPORT_SPAWN_FAILED */
    uint64_t out_bytes; /* final offsets of the two streams */
    uint64_t err_bytes;
    int64_t cpu_ms;
    int64_t memory_peak_bytes;
    bool workdir_missed; /* REPORT_STARTED: in its job directory, not where it was asked to run */
};

/* Which fields of a task_edit or node_edit are set. */
enum {
    EDIT_PRIORITY = 1,
    EDIT_TIME_LIMIT = 2,
    EDIT_RETRIES = 4,
    EDIT_GRACE = 8,
    EDIT_NAME = 16,
    EDIT_TAGS = 32,
    EDIT_POOL = 64,
    EDIT_RESOURCES = 128,
    EDIT_PROJECT = 256,
    EDIT_AVOID = 512,
    EDIT_LABELS = 1024,
    EDIT_TOPOLOGY = 2048
};
enum { EDIT_FIELDS_ALL = EDIT_TOPOLOGY * 2 - 1 };
/* What of them changes the request of an instance. */
enum { EDIT_REQUEST = EDIT_RESOURCES | EDIT_AVOID | EDIT_LABELS };
enum { NODE_EDIT_DRAIN = 1, NODE_EDIT_LABELS = 2 };

struct task_edit {
    uint32_t fields;
    uint32_t priority;
    uint32_t max_retries;
    int64_t time_limit_ms;
    int64_t grace_ms;
    const char *name;
    const char *const *tags;
    uint32_t tag_count;
    const char *pool;    /* running ones stop first */
    const char *project; /* those that hold nothing only, as for the next */
    const struct task_spec
        *asks;                /* what an instance asks for from now on; nothing else of it counts */
    const char *const *avoid; /* names of nodes, as for the project */
    uint32_t avoid_count;
    const struct label *node_labels; /* likewise, as what follows */
    uint32_t node_label_count;
    struct topology_spec topology; /* of a gang; no level: none any more */
};

/* A task's new place: directly ahead of another one, or behind it. */
struct task_move {
    task_id other;
    bool behind;
};

/* Where an instance is, and what of the devices it has. */
struct adopted {
    uint32_t index;
    node_id node;
    uint64_t devices;
};

struct node_edit {
    uint32_t fields;
    bool drain;
    const struct label *labels;
    uint32_t label_count;
};

struct submission {
    const struct task_spec *specs;
    uint32_t count;
    bool has_key;
    uint8_t key[16]; /* hash of user and idempotency key */
    uint8_t body_hash[16];
};

struct input {
    enum input_type type;
    int64_t now_ms;
    const char *actor; /* who: "user:root", "node:n1", "scheduler", "timer" */
    const char *cause; /* request id or empty */
    union {
        struct {
            uint8_t server_uuid[16]; /* used the first time only */
        } server;
        struct {
            const struct pool_spec
                *spec;    /* create, edit: the whole definition, read-modify-write by the API */
            pool_id pool; /* edit, delete */
            bool force;
        } pool;
        struct {
            node_id node; /* all but join */
            const struct node_spec *spec;
            const struct node_edit *edit;
            bool closing; /* join: in the name of a supervisor that is gone; nothing starts there */
        } node;
        struct submission submit;
        struct {
            task_id task;
            const struct task_edit *edit;
            struct task_move move;
            const struct adopted *places; /* adopt */
            uint32_t place_count;
        } task;
        struct {
            node_id node;
            const struct report *reports;
            uint32_t count;
        } report;
        struct {
            account_id account; /* 0: create */
            const struct account_spec
                *spec; /* the whole definition; kind and name of an existing one stay */
        } account;
        struct {
            account_id account;
            pool_id pool;
            const struct quota_spec *spec; /* the whole definition, read-modify-write by the API */
        } quota;
        struct {
            pool_id pool;
            uint64_t work_max; /* budget in units of work */
        } pass;
    };
};
