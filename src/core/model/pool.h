/* pool.h - the row of a pool.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/model/ids.h"
#include "core/model/vector.h"

#include <stdbool.h>
#include <stdint.h>

/* The pool that always exists. */
#define POOL_DEFAULT_NAME "default"

/* What the slots of a pool are. */
enum slot_type { SLOTS_NONE, SLOTS_CPU, SLOTS_GPU, SLOTS_MIXED };

/* What its nodes amount to. */
struct pool_figures {
    uint32_t nodes_total;
    uint32_t nodes_up;
    uint32_t nodes_draining;
    uint32_t nodes_lost;
    int64_t slots_used;
    uint64_t aux_total; /* places for tasks without slots */
    uint64_t aux_used;
    uint64_t aux_free; /* on the nodes that may take work */
    enum slot_type slot_type;
};

/* A task that has waited longer than patience: its places are kept as they fall free. */
struct reservation {
    task_id task;
    int64_t
        until_ms; /* when it will have started, as reckoned when it was given; 0: nobody knows */
};
enum { RESERVATIONS_MAX = 8 };

struct pool {
    pool_id id;          /* 0: no row here */
    uint32_t node_count; /* joined and not removed */
    uint32_t accepts;    /* bit per task kind; 0: all */
    uint32_t aux_tasks;
    uint8_t paused;
    uint8_t deleted;
    uint8_t due;            /* hint, not state: a pass may find something to do */
    uint8_t uneven_off;     /* see struct pool_spec */
    uint32_t task_count;    /* all that have not ended */
    uint32_t pending_count; /* tasks with a waiting instance that may run */
    uint32_t running_count; /* tasks with an allocation */
    uint8_t policy;         /* enum pool_policy, and so on: see struct pool_spec */
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
    int64_t preempt_delay_ms;
    int64_t user_slots_max;
    int64_t history_half_life_ms;
    int64_t history_window_ms;
    int64_t history_at_ms;       /* its means are of this moment; 0: there are none */
    int64_t history_next_ms;     /* the next tick; 0: nothing runs */
    struct sum history_whole[3]; /* the mean of `usable` */
    int64_t patience_ms;
    task_id blocked_task; /* the first task of the order that did not fit, 0: none */
    int64_t blocked_since_ms;
    int64_t blocked_more_ms; /* it may be overtaken so much longer than patience */
    struct reservation reserved[RESERVATIONS_MAX];
    int64_t wake_ms;      /* a pass is due then: a delay or a protection ends; 0: none does */
    int64_t slots_milli;  /* sum over its nodes that are not removed */
    int64_t slots_free;   /* over the nodes that may take work */
    struct sum usable[3]; /* slots, cpu, memory of the nodes that may take work: what is divided */
    uint32_t typical_counted; /* rows of what is asked of it (typical.h): */
    uint32_t typical_weighed;
    uint64_t typical_sum;     /* of the counts */
    uint64_t typical_since;   /* what was counted since the others were weighed */
    uint64_t typical_version; /* hint, not state: how often they were */
    int64_t created_ms;
    uint32_t level_count; /* of its topology */
    struct blob *levels;  /* their names, one behind the other with a NUL each, widest first */
    struct blob *text;    /* encoded name, title, description */
};

/* Do its queues go by expected length? Not where first come is first served. */
bool pool_by_length(const struct pool *pool);

/* Does this task have one of the pool's reservations? */
bool pool_has_reserved(const struct pool *pool, task_id task);

/* When the blocked task of a pool has been overtaken long enough; INT64_MAX: there is none, or it has its reservation. */
int64_t pool_patience_ms(const struct pool *pool);
