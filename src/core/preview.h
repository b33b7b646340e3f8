/* preview.h - what a change would do: which tasks would be told to stop, end, get places, or wait, and why; which machines
 * pools would ask their providers for, and which would end.
 *
 * The inputs are decided and applied in a copy of the core, and the passes that are due then are run in the copy, by the same functions
 * that make the change itself. Passes that were due before the change are run first, so that the preview shows only what the change
 * does. Nothing outside the copies changes. All work is bounded: `cut` says that a bound was reached.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/core.h"
#include "core/sched/explain/explain.h"

enum {
    PREVIEW_TASKS_MAX = 100,  /* tasks in each list; further ones are only counted */
    PREVIEW_PLACES_MAX = 8,   /* nodes named for a task */
    PREVIEW_WAITS_MAX = 10,   /* waiting tasks that are explained */
    PREVIEW_QUEUE_MAX = 16,   /* tasks at the head of a queue that are looked at */
    PREVIEW_LEAVE_MAX = 1000, /* attempts that leave in the look at what follows */
    PREVIEW_POOLS_MAX = 32    /* pools whose launches are counted apart */
};

/* A task with attempts that would be told to stop. */
struct preview_stop {
    task_id task;
    uint32_t instances; /* instances that would be told to stop */
    /* Preempted tasks wait again, killed tasks end, paused tasks wait for their user, moved tasks wait in another pool. */
    enum end_cause cause;
    /* the change itself does not stop the task: the task stops at `at_ms`, or when a node of it is
     * replaced */
    bool later;
    int64_t at_ms;   /* the deadline of a node of the task; 0: there is none */
    int64_t lost_ms; /* the longest time of an instance since its start or its last checkpoint */
    int64_t
        slots_lost; /* that time of all instances, times the slots held: thousandths of slots times milliseconds */
};

/* A task that would end without having to stop. */
struct preview_end {
    task_id task;
    enum task_state state;
};

struct preview_place {
    node_id node;
    uint32_t instances;
    uint64_t devices;
};

/* A task of which instances would get places. */
struct preview_start {
    task_id task;
    uint32_t instances;
    bool now; /* false: only once the stopped attempts have left */
    bool
        promised; /* places are promised to instances, which start there once the stopped attempts have left */
    uint32_t place_count;
    struct preview_place places[PREVIEW_PLACES_MAX];
};

/* A task that the change leaves waiting, or whose reason for waiting the change makes another one. */
struct preview_wait {
    task_id task;
    struct explanation why;
    /* The task whose end would let this task start; 0: not known. Looked for only for the first task of the list. */
    task_id first;
    uint32_t first_others; /* tasks that must have ended before `first` */
    int64_t first_ms;      /* when the time limit of `first` is over; 0: `first` has none */
};

/* Machines that a pool would ask its provider for. */
struct preview_launch {
    pool_id pool;
    uint32_t nodes;
};

/* A machine that the provider of a pool would be told to end. */
struct preview_machine_end {
    pool_id pool;
    node_id node;  /* 0: its agent has not joined; with `later`: not known which node */
    bool later;    /* once the node has no work */
    bool replaced; /* another machine takes its place */
};

struct preview {
    struct core *before; /* the state in which the change was tried */
    struct core *after;  /* the state right after the change: nothing has left its place yet */
    bool changes;        /* the change is one: at least one value would be another */
    bool cut;            /* the look stopped at a bound: there may be more than the lists have */
    task_id submitted;   /* the first task that the inputs submit; 0: none */
    uint32_t submitted_count;
    account_id quota_account; /* of which the inputs set a quota; 0: of none */
    pool_id quota_pool;
    uint32_t refused; /* inputs that were refused, where there are several inputs */
    uint32_t stop_count;
    uint32_t stop_total; /* tasks that would be told to stop */
    struct preview_stop stops[PREVIEW_TASKS_MAX];
    uint32_t end_count;
    uint32_t end_total;
    struct preview_end ends[PREVIEW_TASKS_MAX];
    uint32_t start_count;
    uint32_t start_total;
    struct preview_start starts[PREVIEW_TASKS_MAX];
    uint32_t wait_count;
    uint32_t wait_total;
    struct preview_wait waits[PREVIEW_WAITS_MAX];
    uint32_t launch_count;
    uint32_t launch_total; /* machines of all pools */
    struct preview_launch launches[PREVIEW_POOLS_MAX];
    uint32_t machine_end_count;
    uint32_t machine_end_total;
    struct preview_machine_end machine_ends[PREVIEW_TASKS_MAX];
};

struct preview_ask {
    const struct input *inputs; /* with time, actor and cause */
    uint32_t count;             /* one or more; all have the same time */
    bool brief;                 /* only stops, ends and starts before anything has left */
};

/* Says what the inputs would do. Another verdict than VERDICT_OK: the only input, or each of several inputs, was refused, and `facts`
 * has the refusal. The result is given back by preview_free(). */
enum verdict preview_run(const struct core *core, const struct preview_ask *ask,
                         struct facts *facts, struct preview **ret);
void preview_free(struct preview *preview); /* accepts NULL */

/* Has the task places, or the promise of places, right after the change? */
bool preview_starts(const struct preview *preview, task_id task);
