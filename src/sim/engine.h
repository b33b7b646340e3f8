/* engine.h - plays a scenario: a virtual clock, virtual agents, and the unchanged core, which
 * alone decides.
 *
 *   scenario ─▶ arrivals, actions ─┐                       ┌─▶ facts ─▶ watchers (metrics, log)
 *   agents ──▶ reports ────────────┴─▶ input ─▶ core ──────┴─▶ effects ─▶ agents
 *
 * The engine works on one moment of virtual time until nothing more happens in it: reports,
 * actions, arrivals, deadlines, passes, and what follows from them. Then the clock jumps to the
 * next moment.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/fail.h"
#include "core/core.h"
#include "sim/scenario.h"

#include <signal.h>

struct engine;
struct run;

/* What became of a submitted job. Times are those of the scenario, below 0 before its beginning,
 * or NOT_YET. */
struct job_record {
    const struct job *job;
    struct run *runs; /* one for each instance, until the task has ended */
    int64_t submitted_ms;
    int64_t started_ms; /* start of the first attempt of any instance */
    int64_t ended_ms;
    int64_t waited_ms;   /* time without a running instance, up to the last start or the end */
    int64_t stopped_ms;  /* since when no instance runs; NOT_YET: one runs */
    int64_t slots_milli; /* of all instances */
    __int128 work_lost;  /* thousandths of slots x ms, lost by evictions and lost nodes */
    uint32_t instance_count;
    uint32_t running_count; /* instances that run */
    uint32_t account;       /* index for engine_records_account_name() */
    uint32_t evictions;     /* attempts that were preempted */
    uint32_t losses;        /* attempts lost with their node */
    uint32_t failures;      /* attempts that failed by themselves */
    int32_t exit_code;
    enum task_state state; /* state at the end; TASK_PENDING before */
    enum end_cause cause;
    pool_id pool;
};

/* A job that was refused at submission. */
struct refusal {
    const struct job *job;
    int64_t at_ms;
    struct reason reason;
};

/* A part of the simulator that is told what happens. Functions may be NULL. */
struct watcher {
    void *ctx;
    /* Called after a fact was applied. For FACT_ATTEMPT_ENDED and FACT_TASK_ENDED the record is
     * up to date, and engine_records_held() still says what the attempt held. */
    void (*fact)(void *ctx, const struct engine *engine, const struct fact *fact);
    /* Called after an input and all its facts. */
    void (*step)(void *ctx, const struct engine *engine, const struct input *in,
                 const struct facts *facts);
    /* Called when a job was refused. */
    void (*refused)(void *ctx, const struct engine *engine, const struct refusal *refusal);
    /* Called when nothing more happens at this moment. The next moment is `next_ms` (INT64_MAX:
     * never). */
    void (*instant)(void *ctx, const struct engine *engine, int64_t next_ms);
};

enum { ENGINE_WATCHERS_MAX = 4 };

struct engine_options {
    bool check;                        /* call core_check() after every step */
    const volatile sig_atomic_t *stop; /* if not 0, the run ends at this moment; may be NULL */
    struct watcher watchers[ENGINE_WATCHERS_MAX];
    uint32_t watcher_count;
};

/* The scenario must outlive the engine. */
struct engine *engine_new(const struct scenario *scenario, const struct engine_options *options);
void engine_free(struct engine *engine);

/* Plays the scenario to its end. ERR_INVALID: the scenario names something that does not exist,
 * or the core refuses one of its nodes, pools or accounts. */
must_use enum err engine_run(struct engine *engine, struct error *e);

/* True when the run was stopped before its end. */
bool engine_stopped(const struct engine *engine);

const struct core *engine_core(const struct engine *engine);
const struct scenario *engine_scenario(const struct engine *engine);
int64_t engine_now_ms(const struct engine *engine); /* time of the scenario */
/* The core's time when the scenario begins. */
int64_t engine_epoch_ms(const struct engine *engine);

/* What has happened so far in the run. */
struct engine_counts {
    uint64_t events; /* inputs given to the core */
    uint64_t facts;
    uint64_t passes;
    uint64_t visits;     /* nodes that passes looked at */
    size_t jobs_arrived; /* refused jobs included */
};
struct engine_counts engine_counts(const struct engine *engine);

/* Returns the jobs submitted so far, in order of task id: task t is record t - 1. */
const struct job_record *engine_records(const struct engine *engine, size_t *ret_count);
const struct job_record *engine_records_at(const struct engine *engine, task_id task);

/* Returns how long a task has waited so far: the time from its submission to its end in which no
 * instance of it ran. The time between an eviction and the next start is such time. */
int64_t engine_records_waited(const struct engine *engine, const struct job_record *record);

/* What an attempt that is just ending held, its start (NOT_YET: it had not started), and how much
 * of its time is lost because the work must be done again. */
struct held {
    int64_t slots_milli;
    node_id node;
    int64_t started_ms;
    int64_t lost_ms;
};
struct held engine_records_held(const struct engine *engine, const struct attempt_key *key);

/* Returns a project by the order of first tasks; NULL: beyond the last project. */
const char *engine_records_account_name(const struct engine *engine, uint32_t account);
