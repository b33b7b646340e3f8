/* spec.h - what users and agents ask for, as checked structs with names still names. Made by spec/
 * and wire/ from text, read by core_decide(), which resolves the names. All pointers are borrowed
 * from the maker's arena.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum task_kind {
    TASK_EXPERIMENT,
    TASK_COMMAND,
    TASK_SHELL,
    TASK_NOTEBOOK,
    TASK_TENSORBOARD,
    TASK_SERVICE
};
enum { TASK_KIND_COUNT = TASK_SERVICE + 1 };

struct named_amount {
    const char *name;
    int64_t milli;
};

struct label {
    const char *key;
    const char *value;
};

enum { ASK_NOTHING = -1 }; /* for slots, cpu and memory: the user named none */

/* How close together the instances of a gang, or of a group of it, are to be: levels of the pool's
 * topology by name, "" (or NULL): none. */
struct topology_spec {
    const char *required;  /* all in one domain of this level */
    const char *preferred; /* in one of this level if there is room, else in as few as possible */
};

struct task_spec;

/* A group of instances within a gang. A group stands before those it consists of, which follow it directly. */
struct group_spec {
    const char *name;
    uint32_t parent; /* 1 + the place in the list of the group it is part of; 0: the task itself */
    uint32_t instances; /* 0: it consists of groups */
    uint32_t
        min; /* so many of its instances, or of the groups directly below it, are needed; 0: all */
    struct topology_spec topology;
    const struct task_spec *asks;    /* what each instance asks for; NULL: what the task says */
    const struct label *node_labels; /* what its nodes must have beside those of the task */
    uint32_t node_label_count;
};

struct task_spec {
    enum task_kind kind;
    const char *name; /* may be empty */
    const char *user; /* set by the server from the token, never by the body */
    const char *project;
    const char *image;   /* empty: none */
    const char *workdir; /* empty: the job directory */
    const char *const *argv;
    uint32_t argv_count;
    const char *const *env; /* "KEY=value" */
    uint32_t env_count;
    const char *const *tags;
    uint32_t tag_count;
    const char *const *pools; /* in order of preference; none: the server's default */
    uint32_t pool_count;
    const uint64_t *depends_on;
    uint32_t depends_count;
    uint64_t depends_any; /* bit i: however the i-th of them ends; else it must succeed */

    /* per instance */
    int64_t slots_milli; /* ASK_NOTHING, or the amount (thousandths) asked as `slots` or `gpu` */
    int64_t cpu_milli;   /* ASK_NOTHING or the amount */
    int64_t memory_bytes;
    int64_t gpu_memory_bytes; /* 0: none */
    uint64_t device_mask;
    uint32_t
        gpu_devices; /* so many devices, each with the share or the memory asked; 0: not said */
    bool needs_gpu;  /* asked as `gpu`, `gpu_memory` or `devices` */
    const struct named_amount *resources;
    uint32_t resource_count;
    const char *const *avoid; /* names of nodes on which it must not run */
    uint32_t avoid_count;
    const struct label *node_labels; /* what its nodes must have */
    uint32_t node_label_count;

    uint32_t instances;   /* 1 or more */
    uint32_t array_first; /* INSTANCE_ID of instance 0 */
    bool gang;
    uint32_t min_instances; /* of a gang: it runs with so many, the others come and go; 0: all */
    struct topology_spec topology;
    const struct group_spec *groups; /* of a gang whose instances are not all alike */
    uint32_t group_count;
    uint32_t min_groups; /* so many of the groups directly below the task are needed; 0: all */
    bool preemptible;
    bool repeatable; /* false: never rerun after a loss, ends as `unknown` */
    bool stage;
    uint32_t priority;
    uint32_t max_retries;
    int64_t time_limit_ms; /* 0: none */
    int64_t grace_ms;
    bool own_stale_grace; /* else the pool's, for gangs that may grow */
    int64_t stale_grace_ms;
    bool own_preempt_delay; /* else the pool's */
    int64_t preempt_delay_ms;
};

/* Whose turn it is. */
enum pool_policy { POLICY_FAIR_SHARE, POLICY_PRIORITY, POLICY_FIFO, POLICY_ROUND_ROBIN };
enum { POOL_POLICY_COUNT = POLICY_ROUND_ROBIN + 1 };

/* Which of the nodes that fit. */
enum pool_placement { PLACEMENT_PACK, PLACEMENT_SPREAD, PLACEMENT_TIGHT };
enum { POOL_PLACEMENT_COUNT = PLACEMENT_TIGHT + 1 };

/* Which tasks of an account that must give. */
enum pool_victims { VICTIMS_LEAST_LOSS, VICTIMS_YOUNGEST };
enum { POOL_VICTIMS_COUNT = VICTIMS_YOUNGEST + 1 };

/* Which task of a project comes first among those of one priority. */
enum pool_order { QUEUE_SUBMISSION, QUEUE_SHORT_FIRST };
enum { POOL_ORDER_COUNT = QUEUE_SHORT_FIRST + 1 };

enum { STALE_GRACE_NEVER = -1 };

struct pool_spec {
    const char *name;
    const char *title;
    const char *description;
    int64_t patience_ms;
    uint32_t accepts; /* bit per task_kind; 0: all */
    bool paused;
    uint32_t aux_tasks; /* zero-slot instances a node of this pool takes */
    enum pool_policy policy;
    enum pool_placement placement;
    enum pool_victims victims;
    enum pool_order order;
    bool preemption_off;
    uint32_t consolidation_max; /* tasks moved to make room for one; 0: none */
    int64_t stale_grace_ms;     /* how long a gang may be below its minimum; STALE_GRACE_NEVER */
    int64_t preempt_min_runtime_ms; /* where no quota says otherwise */
    int64_t reclaim_min_runtime_ms;
    int64_t preempt_delay_ms; /* how long a task waits before it may take from others */
    int64_t user_slots_max;   /* thousandths that the tasks of one user may hold; 0: no cap */
    int64_t
        history_half_life_ms; /* the past counts half after this long; 0: as long as the window */
    int64_t
        history_window_ms; /* counting starts anew so often; 0: never. Both 0: shares do not look back */
    uint32_t history_factor; /* how much the past counts, in thousandths */
    bool uneven_off; /* a task wider than a node takes equal parts of whole nodes, or is refused */
    const char *const *topology; /* keys of node labels, the widest level first */
    uint32_t topology_count;
};

struct node_spec {
    const char *name;
    const char *pool;
    const struct label *labels;
    uint32_t label_count;
    int64_t slots_milli; /* whole slots; equals 1000 * device_count where there are devices */
    int64_t cpu_milli;
    int64_t memory_bytes;
    int64_t gpu_memory_bytes; /* of the smallest device; 0: unknown */
    uint32_t device_count;
    const struct named_amount *resources;
    uint32_t resource_count;
    uint8_t supervisor[16]; /* identity of the running supervisor process: a new one is a new
                               incarnation */
    const char *boot_id;
    const char *address; /* where other nodes reach it */
    const char *version; /* build of the agent */
};
