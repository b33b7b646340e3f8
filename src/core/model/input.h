/* input.h - inputs: everything that can happen to the core. The shell stamps each input with the time, the
 * actor and the cause.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/model/ids.h"
#include "core/model/launch.h"
#include "core/model/leave.h"
#include "core/model/spec.h"
#include "core/model/task.h"

#include <stdbool.h>
#include <stdint.h>

struct account_spec; /* core/model/account.h */
struct quota_spec;   /* core/model/quota.h */
struct flavor_spec;  /* core/model/flavor.h */

enum input_type {
    INPUT_SERVER_START, /* a server process has taken over the state: a new epoch */
    INPUT_POOL_CREATE,
    INPUT_POOL_EDIT,
    INPUT_POOL_DELETE,
    /* an agent said hello. The node is created or gets this spec. A new supervisor is a new incarnation */
    INPUT_NODE_JOIN,
    INPUT_NODE_SILENT, /* the stream of the node's agent broke */
    INPUT_NODE_LOST,   /* the node was silent for lost_after */
    INPUT_NODE_EDIT,
    INPUT_NODE_REMOVE,
    INPUT_TASK_SUBMIT, /* one task or many tasks; all are accepted or none */
    INPUT_TASK_START,  /* staged -> pending */
    INPUT_TASK_PAUSE,  /* -> paused; running instances stop first */
    INPUT_TASK_ACTIVATE,
    INPUT_TASK_MOVE, /* to another place in the queue */
    INPUT_TASK_KILL,
    INPUT_TASK_EDIT,
    INPUT_REPORT,      /* an agent says what became of an attempt */
    INPUT_TICK,        /* a deadline of query_deadline() has come */
    INPUT_PASS,        /* run the scheduler on one pool */
    INPUT_ACCOUNT_SET, /* create or edit a department or project */
    INPUT_ACCOUNT_DELETE,
    INPUT_QUOTA_SET,
    INPUT_TASK_ADOPT, /* instances that hold places already, elsewhere: a state that is taken over */
    INPUT_DEFAULTS_SET, /* where tasks go that name no pool */
    INPUT_LAUNCH_ASK,   /* nodes are wanted of a pool's provider */
    INPUT_LAUNCH_STOP,  /* one of them is to end */
    INPUT_PROVIDER,     /* a provider says what became of launches */
    INPUT_FLAVOR_SET,   /* create or edit a flavor */
    INPUT_FLAVOR_DELETE,
    INPUT_POOL_CLOSE,   /* no task starts in the pool any more, and its nodes go */
    INPUT_POOL_RESTORE, /* a closed or deleted pool is open again */
    INPUT_POOL_SCALE,   /* the size of a pool with a provider changes, or nodes are to leave it */
    INPUT_POOL_REPLACE, /* all nodes of a pool with a provider are replaced, some at a time */
    INPUT_NETWORK_SET,
    INPUT_NETWORK_DELETE,
    INPUT_TASK_IDLE, /* no running instance of a task has done anything for a time */
    INPUT_HEALTH,    /* the server checked the health of an instance */
    INPUT_ROLLOUT,   /* a rollout that goes on or has stopped is turned around, or goes on */
};

enum { INPUT_TYPE_COUNT = INPUT_ROLLOUT + 1 };

enum report_type {
    REPORT_STARTED,
    REPORT_ENDED, /* the program ended, with an exit code or a signal */
    REPORT_SPAWN_FAILED,
    REPORT_LOST, /* the supervisor that ran the attempt is gone */
    /* the attempt was ordered, but its supervisor never saw the order. The server sends this report after
     * reconciliation */
    REPORT_UNKNOWN,
    REPORT_CHECKPOINT, /* the attempt has saved its work up to `at_ms` */
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
    /* REPORT_ENDED: the kernel ended the attempt, because it was over its memory. The cause of the end keeps this */
    bool out_of_memory;
    /* REPORT_ENDED: the node ended the attempt, because the attempt used more disk than it may. The
     * end cause becomes END_DISK */
    bool out_of_disk;
    /* REPORT_STARTED: the attempt runs in its job directory instead of the directory that the user asked for */
    bool workdir_missed;
};

/* The bit of each field of a task in a mask of edits; 0: the field cannot change (task_fields.def). */
#define EDIT_BIT_FIXED 0
#define EDIT_BIT_EDIT(bit, when) (1 << (bit))
#define FIELD(id, kept, tag, change, place, flag) TASK_EDIT_##id = EDIT_BIT_##change,
enum {
#include "core/model/task_fields.def"
};
#undef FIELD

/* Edits that change the request of an instance. */
enum { TASK_EDIT_REQUEST = TASK_EDIT_resources | TASK_EDIT_avoid | TASK_EDIT_node_labels };
/* The fact node-edited has no NODE_EDIT_LOCK and no NODE_EDIT_BUSY: what these two change is told by the facts node-locked and node-leaving. */
enum { NODE_EDIT_DRAIN = 1, NODE_EDIT_LABELS = 2, NODE_EDIT_LOCK = 4, NODE_EDIT_BUSY = 8 };
enum { NODE_EDIT_STORED = NODE_EDIT_DRAIN | NODE_EDIT_LABELS };

/* An edit of a task. `fields` has a bit for each field of `spec` that the edit sets; other fields of `spec`
 * are not read. An edit of `pools` uses only the first pool. */
struct task_edit {
    uint32_t fields;
    const struct task_spec *spec;
};

/* A task's new place in the queue: directly ahead of the task `other`, or directly behind. */
struct task_move {
    task_id other;
    bool behind;
};

/* On which node an adopted instance runs, and which devices it holds. */
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
    bool locked;
    /* what becomes of the tasks on a node that is drained, or that changes its pool by its labels */
    enum busy busy;
    int64_t within_ms; /* after this time; 0: at once */
};

/* The one task of a submission takes the place of the service `from`, instance by instance (rollout.h). */
struct rollout_ask {
    task_id from;
    bool old_first;
    int64_t drain_ms;
    int64_t within_ms;
};

struct submission {
    const struct rollout_ask *replaces; /* NULL: the submission replaces no task */
    const struct task_spec *specs;
    uint32_t count;
    bool has_key;
    uint8_t key[16]; /* hash of user and idempotency key */
    uint8_t body_hash[16];
};

struct input {
    enum input_type type;
    int64_t now_ms;
    const char *actor; /* who caused the input: "user:root", "node:n1", "scheduler", "timer" */
    const char *cause; /* request id or empty */
    union {
        struct {
            uint8_t server_uuid[16]; /* used for the first start only */
        } server;
        struct {
            /* create, edit: the whole definition of the pool, also the fields that do not change */
            const struct pool_spec *spec;
            pool_id pool; /* all but create */
            bool force;
            bool now;  /* delete: for good, at once */
            bool kill; /* close: running tasks are killed */
        } pool;
        struct {
            node_id node; /* all inputs of nodes but join */
            const struct node_spec *spec;
            const struct node_edit *edit;
            /* join: sent for a supervisor that is gone, to end its attempts; nothing starts on the node */
            bool closing;
        } node;
        struct submission submit;
        struct {
            task_id task;
            const struct task_edit *edit;
            struct task_move move;
            const struct adopted *places; /* adopt: the places of the instances */
            uint32_t place_count;
            bool back;             /* rollout: back to the old task; else the rollout goes on */
            int64_t idle_since_ms; /* idle: since when no running instance has done anything */
            int64_t idle_seen_ms;  /* idle: until when this is known */
            /* idle: when the task was warned that it does nothing; 0: it was not warned */
            int64_t idle_warned_ms;
        } task;
        struct {
            struct attempt_key key;
            enum service_health now;
            bool give_up;      /* the instance has failed too often in a row */
            const char *words; /* what the check found */
        } health;
        struct {
            node_id node;
            const struct report *reports;
            uint32_t count;
        } report;
        struct {
            account_id account; /* 0: a new account is created */
            /* the whole definition of the account. Kind and name of an existing account never change */
            const struct account_spec *spec;
        } account;
        struct {
            account_id account;
            pool_id pool;
            /* the whole definition of the quota, also the fields that do not change */
            const struct quota_spec *spec;
        } quota;
        struct {
            flavor_id flavor; /* 0: a new flavor is created */
            /* the whole definition of the flavor, also the fields that do not change */
            const struct flavor_spec *spec;
        } flavor;
        struct {
            network_id network; /* 0: a new network is created */
            /* the whole definition of the network, also the fields that do not change */
            const struct network_spec *spec;
        } network;
        struct {
            const char *pools[POOL_DEFAULT_COUNT]; /* names of pools that exist */
        } defaults;
        struct {
            pool_id pool; /* ask */
            uint32_t count;
            launch_id launch; /* stop */
            bool
                requeue; /* stop: while tasks run there, they are told to stop, and nothing else is done */
        } launch;
        struct {
            const struct provider_answer *answers;
            uint32_t count;
        } provider;
        struct {
            pool_id pool;
            const struct pool_spec *spec; /* the whole definition of the pool, with its new size */
            const node_id *remove;        /* nodes that leave, whatever the size */
            uint32_t remove_count;
            enum busy busy;
        } scale;
        struct {
            pool_id pool;
            uint32_t at_once; /* 0: the replacement stops */
            enum busy busy;
        } replace;
        struct {
            pool_id pool;
            uint64_t work_max; /* budget in units of work */
        } pass;
    };
};
