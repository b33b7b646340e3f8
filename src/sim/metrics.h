/* metrics.h - the measures of a run: allocation, fragmentation and queue over time, waits and
 * completion times by account and size, evictions and lost work. Everything is counted in
 * integers (thousandths of slots, milliseconds), so that equal runs print equal bytes.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "sim/fleet.h"
#include "sim/paid.h"
#include "sim/engine.h"
#include "sim/series.h"
#include "sim/spread.h"

struct metrics;

struct metrics *metrics_new(const struct scenario *scenario);
void metrics_free(struct metrics *metrics);
void metrics_freep(struct metrics **metrics);

/* Returns the watcher for engine_options. */
struct watcher metrics_watcher(struct metrics *metrics);

struct account_result {
    const char *name;
    struct spread wait;
    struct spread completion;
    struct spread slowdown;
    int64_t held_mean_milli;      /* mean over the whole run */
    int64_t guaranteed_milli;     /* slots in all pools at the end; -1: without a bound */
    int64_t shortfall_milli;      /* most slots lacking of the smaller of guarantee and demand */
    int64_t shortfall_ms;         /* how long any slots were lacking, in all */
    int64_t shortfall_longest_ms; /* the longest time without a break */
    int64_t below_ms; /* how long a place was owed and none promised (core/sched/explain/owed.h) */
    int64_t below_longest_ms;      /* the longest time without a break */
    int64_t promised_longest_ms;   /* longest time from the promise of a place to the start there */
    int64_t share_short_day_milli; /* most slots below the fair share, averaged over a day */
    uint64_t evictions;
    int64_t work_lost_slot_ms; /* whole slots x ms */
};

struct pool_result {
    const char *name;
    int sampled;            /* index in the samples; -1: the samples have it together with others */
    int64_t capacity_milli; /* this and the next are means over the run */
    int64_t allocated_milli;
    int64_t fragmented_milli; /* mean; -1: not known */
    struct spread wait;
    struct spread completion;
    struct spread slowdown;
};

/* One of the first refused tasks. */
enum { REFUSALS_TOLD_MAX = 5 };
struct refused_task {
    const char *name;
    int64_t at_ms;
    enum reason_code code;
    const char *text; /* the sentence of the reason */
};

struct result {
    int64_t span_ms;
    bool stopped;       /* a signal ended the run early */
    uint64_t submitted; /* accepted tasks */
    uint64_t refused;
    struct refused_task refusals[REFUSALS_TOLD_MAX]; /* the first refused tasks */
    uint64_t completed;
    uint64_t failed;
    uint64_t killed;
    uint64_t unknown;
    uint64_t running; /* tasks at the end */
    uint64_t waiting; /* tasks at the end that never started or wait again */
    uint64_t nodes;
    int64_t capacity_milli;    /* mean slots of nodes that are up */
    int64_t allocated_milli;   /* mean slots held */
    int64_t useful_milli;      /* of these, without those whose work was lost */
    int64_t fragmented_milli;  /* mean of the samples */
    uint64_t queue_mean_milli; /* mean, in thousandths of tasks */
    uint64_t queue_max;
    uint64_t evictions;
    uint64_t losses;
    uint64_t failures;
    int64_t work_lost_slot_ms;
    int64_t allocated_slot_ms;
    struct paid_sums paid;    /* by the budgets of all pools */
    struct fleet fleet;       /* of the providers of all pools */
    struct fleet_fixed fixed; /* set by play_fixed(), not by metrics_result() */
    struct spread wait;       /* of tasks that started: all the time in which no instance ran */
    struct spread completion;
    struct spread slowdown;    /* completion divided by the length, in thousandths in place of ms */
    struct spread not_started; /* how long tasks that never started have waited by the end */
    struct spread wait_by_size[SIZE_CLASS_COUNT];
    struct spread completion_by_size[SIZE_CLASS_COUNT];
    struct spread slowdown_by_size[SIZE_CLASS_COUNT];
    struct account_result *accounts; /* sorted by name, 2 before 10 */
    uint32_t account_count;
    struct pool_result *pools; /* pools that had nodes, the oldest first */
    uint32_t pool_count;
};

/* Computes the result of a finished run into the arena. The result must not outlive the metrics. */
void metrics_result(const struct metrics *metrics, const struct engine *engine, struct arena *arena,
                    struct result *ret);

/* Returns the time of a completed task from submission to end, divided by its length, in
 * thousandths: at least 1,000. -1: the task has not completed, or its length is not known. */
int64_t metrics_result_slowdown(const struct job_record *record);

/* Returns the samples of the run, the oldest first. */
const struct series *metrics_series(const struct metrics *metrics);
