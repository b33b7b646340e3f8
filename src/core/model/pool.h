/* pool.h - the row of a pool.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/model/bucket.h"
#include "core/model/flavor.h"
#include "core/model/ids.h"
#include "core/model/life.h"
#include "core/model/leave.h"
#include "core/model/vector.h"

#include <stdbool.h>
#include <stdint.h>

/* The pool that always exists. */
#define POOL_DEFAULT_NAME "default"

/* What the slots of a pool are. */
enum slot_type { SLOTS_NONE, SLOTS_CPU, SLOTS_GPU, SLOTS_MIXED };

/* Sums over the nodes of a pool. */
struct pool_figures {
    uint32_t nodes_total;
    uint32_t nodes_up;
    uint32_t nodes_silent;
    uint32_t nodes_draining;
    uint32_t nodes_lost;
    /* silent and draining nodes without those that leave the pool or whose machines end */
    uint32_t silent_stay;
    uint32_t draining_stay;
    int64_t slots_used;
    uint64_t aux_total; /* places for tasks without slots */
    uint64_t aux_used;
    uint64_t aux_free; /* aux places that are free on nodes that may take work */
    enum slot_type slot_type;
};

/* A holder: a task for which places are kept as they become free. */
struct reservation {
    task_id task;
    /* when the task will have started, as computed when the reservation was made; 0: unknown */
    int64_t until_ms;
    bool turn; /* the task requests more than its account's share, and has a turn */
};
enum { RESERVATIONS_MAX = 8 };

/* The credit of an account for turns, in one dimension: share-time that the account has not used. */
struct credit {
    account_id account;
    uint32_t dim;
    int64_t share; /* the account's share when the row was written */
    struct bucket bucket;
};
enum { CREDITS_MAX = 32 };

struct pool {
    pool_id id;          /* 0: no row here */
    uint32_t node_count; /* nodes that have joined and are not removed */
    uint32_t accepts;    /* a bit for each task kind that the pool accepts; 0: all kinds */
    uint32_t aux_tasks;
    uint8_t paused;
    uint8_t deleted;
    uint8_t due;            /* a hint, not part of the state: a pass may find something to do */
    uint8_t uneven_off;     /* see struct pool_spec */
    uint32_t task_count;    /* tasks that have not ended */
    uint32_t pending_count; /* tasks with a waiting instance that may run */
    uint32_t running_count; /* tasks with an allocation */
    /* of the tasks with an allocation: tasks that a move in the queue put behind another task */
    uint32_t overtaken_count;
    /* enum pool_policy. struct pool_spec describes the members from here to `order` */
    uint8_t policy;
    uint8_t placement;
    uint8_t victims;
    uint8_t preemption_off;
    uint8_t order;
    uint8_t reserved_count;
    uint8_t pad[2];
    uint32_t consolidation_max;
    uint32_t history_factor;
    int64_t stale_grace_ms;
    int64_t preempt_min_runtime_ms;
    int64_t reclaim_min_runtime_ms;
    int64_t preemption_delay_ms;
    int64_t user_slots_max;
    int64_t history_half_life_ms;
    int64_t history_window_ms;
    /* the moment of the last tick of the usage history; 0: there is no history */
    int64_t history_at_ms;
    /* the next tick of the usage history; 0: none, because nothing runs */
    int64_t history_next_ms;
    struct sum history_whole[3]; /* the mean of `usable` over the usage history */
    int64_t patience_ms;         /* or PATIENCE_AUTO */
    int64_t turn_ms;
    uint32_t idle_for_waiting; /* see struct pool_spec */
    uint32_t loss_for_sharing;
    struct bucket idle; /* the idle budget */
    struct bucket loss; /* the loss budget */
    uint32_t credit_count;
    struct credit credits[CREDITS_MAX]; /* of accounts whose credit for turns is not full */
    struct reservation reserved[RESERVATIONS_MAX];
    /* a pass is due at this moment, because a delay or a protection ends; 0: none ends */
    int64_t wake_ms;
    int64_t slots_milli; /* sum over the pool's nodes that are not removed */
    int64_t slots_free;  /* sum over the nodes that may take work */
    /* slots, cpu and memory of the nodes that may take work: what the shares divide */
    struct sum usable[3];
    uint32_t typical_counted; /* rows of counted typical requests (typical.h) */
    uint32_t typical_weighed;
    uint64_t typical_sum;   /* sum of the counts of the counted rows */
    uint64_t typical_since; /* what was counted since the typical requests were last weighed */
    /* a hint, not part of the state: how often the typical requests were weighed */
    uint64_t typical_version;
    /* struct pool_spec describes the members from here to `node_memory_bytes`, and `node_gpus` */
    uint32_t provider; /* enum pool_provider */
    uint32_t nodes_min;
    uint32_t nodes_max;
    uint32_t headroom;
    uint32_t node_slots;
    /* launches of the pool: all, without those that end, and of these without those that have joined */
    uint32_t launch_count;
    uint32_t launch_live;
    uint32_t launch_starting;
    uint32_t launch_leaving; /* of all launches: those that end once their node has no work */
    uint32_t pad2;
    int64_t node_idle_ms;
    int64_t max_starting_ms;
    int64_t node_cpu_milli;
    int64_t node_memory_bytes;
    uint32_t launch_failures; /* launches that failed, since the last one that joined */
    uint32_t node_gpus;
    /* tasks went to other pools since a launch was last on its way: launches that no task needs may end */
    uint32_t surplus;
    int64_t grow_period_ms;
    int64_t grown_ms;        /* when the pool last asked for nodes; 0: never */
    int64_t launch_retry_ms; /* no launch is asked for before this moment */
    int64_t shrink_ms;       /* a node may go at this moment; 0: no node may go */
    flavor_id flavor;        /* says what each node has; 0: `node_slots` and its neighbours do */
    network_id network;      /* of all the pool's tasks (network.h); 0: each task may say its own */
    uint32_t sold_nodes;     /* nodes that the pool waits for, because its flavor is sold out */
    uint32_t sold_zones;     /* a bit for each zone of the flavor in whose line the pool stands */
    uint32_t zoned;          /* the pool has a number of nodes for each zone of its flavor: */
    uint32_t zone_wants[FLAVOR_ZONES_MAX];
    int64_t sold_wait_ms; /* since when the pool waits for its flavor; 0: it does not */
    struct replacement replacement;
    int64_t replace_ms; /* the replacement goes on at this moment; 0: it waits, or there is none */
    struct blob *replaced; /* how the last replacement ended; NULL: none did */
    struct blob *refusal;  /* the provider's words about the last launch that failed; NULL: none */
    int64_t created_ms;
    uint32_t level_count; /* levels of the pool's topology */
    uint32_t node_lost;   /* nodes that are lost */
    uint32_t spare_nodes; /* see struct pool_spec */
    uint32_t spare_count; /* spare nodes that could take work at once */
    /* of the launches that do not end: launches for which the provider has not answered yet */
    uint32_t launch_asked;
    struct pool_life life;
    struct blob *levels; /* the names of the levels, each with its NUL, the widest level first */
    struct blob *text;   /* encoded name, title, description */
    /* the marks of the pool's selector, ascending (label.h); NULL: no node belongs to the pool by its labels */
    struct blob *selector;
    /* nodes that belong to this pool by their labels, and that the selector of a later pool matches, too */
    uint32_t contested_count;
    uint32_t slots_per_node; /* see struct pool_spec */
    uint32_t access;         /* enum pool_access */
    uint32_t idle_action;    /* enum idle_action of struct pool_spec */
    int64_t idle_warn_ms;
    int64_t idle_after_ms;
    /* the names of struct pool_spec, each with its NUL, sorted; NULL: none */
    struct blob *guests;
};

/* Are the pool's queues ordered by expected length? Never with policy `fifo`. */
bool pool_by_length(const struct pool *pool);

/* The most slots that a node has in this pool; NODE_SLOTS_MAX: all that the node has. */
uint32_t pool_slots_most(const struct pool *pool);

/* The slots that a node of the pool's provider has in this pool. */
uint32_t pool_node_slots(const struct pool *pool);

/* Does this task have one of the pool's reservations? */
bool pool_has_reserved(const struct pool *pool, task_id task);

/* May tasks start in the pool? */
bool pool_starts(const struct pool *pool);

/* Is the pool there for tasks? The tasks of a pool that was deleted are unavailable, also while the pool can be restored. NULL is fine. */
bool pool_has_tasks(const struct pool *pool);
