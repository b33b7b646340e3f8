/* metrics.h - what a run is measured by: allocation, fragmentation and queue over time, waits and
 * completion times by account and size, evictions and lost work.
 *
 * Everything is counted in integers (thousandths of slots, milliseconds), so that equal runs print
 * equal bytes. SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "sim/engine.h"
#include "sim/series.h"
#include "sim/spread.h"

struct metrics;

struct metrics *metrics_new(const struct scenario *scenario);
void metrics_free(struct metrics *metrics);
void metrics_freep(struct metrics **metrics);

/* For engine_options. */
struct watcher metrics_watcher(struct metrics *metrics);

struct account_result {
    const char *name;
    struct spread wait;
    struct spread completion;
    int64_t held_mean_milli;  /* slots, over the whole run */
    int64_t guaranteed_milli; /* slots of all pools, at the end; -1: without bound */
    int64_t shortfall_milli;  /* most slots that it lacked of what it was guaranteed and wanted */
    int64_t shortfall_ms;     /* how long it lacked any, together */
    int64_t shortfall_longest_ms; /* and at a stretch */
    int64_t
        below_ms; /* how long it was owed a place and promised none (core/sched/explain/owed.h) */
    int64_t below_longest_ms;    /* and at a stretch */
    int64_t promised_longest_ms; /* from the promise of a place to the start there */
    uint64_t evictions;
    int64_t work_lost_slot_ms; /* whole slots x ms */
};

struct pool_result {
    const char *name;
    int sampled;            /* its place in the samples; -1: it is one of those together */
    int64_t capacity_milli; /* means, as below */
    int64_t allocated_milli;
    int64_t fragmented_milli; /* -1: not known */
    struct spread wait;
    struct spread completion;
};

/* One of the first tasks that were refused. */
enum { REFUSALS_TOLD_MAX = 5 };
struct refused_task {
    const char *name;
    int64_t at_ms;
    enum reason_code code;
    const char *text; /* the sentence */
};

struct result {
    int64_t span_ms;
    bool stopped;       /* before its time, by a signal */
    uint64_t submitted; /* accepted ones */
    uint64_t refused;
    struct refused_task refusals[REFUSALS_TOLD_MAX]; /* as many as there were, and the first ones */
    uint64_t completed;
    uint64_t failed;
    uint64_t killed;
    uint64_t unknown;
    uint64_t running; /* at the end */
    uint64_t waiting; /* at the end, never started or waiting again */
    uint64_t nodes;
    int64_t capacity_milli;    /* mean slots of nodes that are up */
    int64_t allocated_milli;   /* mean */
    int64_t fragmented_milli;  /* mean, by the samples */
    uint64_t queue_mean_milli; /* tasks, thousandths */
    uint64_t queue_max;
    uint64_t evictions;
    uint64_t losses;
    uint64_t failures;
    int64_t work_lost_slot_ms;
    struct spread wait;
    struct spread completion;
    struct spread not_started; /* how long those that never started have waited by the end */
    struct spread wait_by_size[SIZE_CLASS_COUNT];
    struct spread completion_by_size[SIZE_CLASS_COUNT];
    struct account_result *accounts; /* by name */
    uint32_t account_count;
    struct pool_result *pools; /* that had nodes, oldest first */
    uint32_t pool_count;
};

/* The result of a finished run, in the arena; it lives no longer than the metrics. */
void metrics_result(const struct metrics *metrics, const struct engine *engine, struct arena *arena,
                    struct result *ret);

/* The samples of the run, oldest first. */
const struct series *metrics_series(const struct metrics *metrics);
