/* engine.h - plays a scenario: virtual clock, virtual agents, and the unchanged core, which alone
 * decides.
 *
 *   scenario ─▶ arrivals, actions ─┐                       ┌─▶ facts ─▶ watchers (metrics, event log)
 *   agents ──▶ reports ────────────┴─▶ input ─▶ core ──────┴─▶ effects ─▶ agents
 *
 * One moment of virtual time is worked off until nothing more happens in it: reports, actions,
 * arrivals, deadlines, passes, and what follows from them; then the clock jumps to the next thing
 * that will happen. SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/fail.h"
#include "core/core.h"
#include "sim/scenario.h"

#include <signal.h>

struct engine;
struct run;

/* A submitted job, from the arrival of its task to the end of the run. Times are of the scenario, below 0 what was before it;
 * or NOT_YET. */
struct job_record {
    const struct job *job;
    struct run *runs; /* one per instance, until the task has ended */
    int64_t submitted_ms;
    int64_t started_ms; /* of the first attempt of any instance */
    int64_t ended_ms;
    int64_t slots_milli; /* of all instances */
    __int128 work_lost;  /* slots (thousandths) x ms, by evictions and losses */
    uint32_t instance_count;
    uint32_t account;   /* in engine_records_account_name() */
    uint32_t evictions; /* attempts preempted */
    uint32_t losses;    /* attempts lost with their node */
    uint32_t failures;  /* attempts that failed by themselves */
    int32_t exit_code;
    enum task_state state; /* as of its end; TASK_PENDING before */
    enum end_cause cause;
    pool_id pool;
};

/* A job that was refused at submission. */
struct refusal {
    const struct job *job;
    int64_t at_ms;
    struct reason reason;
};

/* What is told about a run while it goes on; functions may be NULL. */
struct watcher {
    void *ctx;
    /* After the fact was applied. For FACT_ATTEMPT_ENDED and FACT_TASK_ENDED the record is up to
     * date, and `held` is what the attempt had. */
    void (*fact)(void *ctx, const struct engine *engine, const struct fact *fact);
    /* After an input and all its facts: what the core was asked, and what it said. */
    void (*step)(void *ctx, const struct engine *engine, const struct input *in,
                 const struct facts *facts);
    /* A job was refused. */
    void (*refused)(void *ctx, const struct engine *engine, const struct refusal *refusal);
    /* Nothing more happens at this moment; the next is at `next_ms` (INT64_MAX: never). */
    void (*instant)(void *ctx, const struct engine *engine, int64_t next_ms);
};

enum { ENGINE_WATCHERS_MAX = 4 };

struct engine_options {
    bool check;                        /* core_check() after every step */
    const volatile sig_atomic_t *stop; /* not 0: end at this moment; NULL: nobody will ask */
    struct watcher watchers[ENGINE_WATCHERS_MAX];
    uint32_t watcher_count;
};

/* The scenario must outlive the engine. */
struct engine *engine_new(const struct scenario *scenario, const struct engine_options *options);
void engine_free(struct engine *engine);

/* To the end. ERR_INVALID: the scenario names what is not there, or asks for what the core refuses
 * for nodes and pools. */
must_use enum err engine_run(struct engine *engine, struct error *e);

/* Was it asked to end before its time? */
bool engine_stopped(const struct engine *engine);

const struct core *engine_core(const struct engine *engine);
const struct scenario *engine_scenario(const struct engine *engine);
int64_t engine_now_ms(const struct engine *engine);       /* of the scenario */
int64_t engine_epoch_ms(const struct engine *engine);     /* the core's time when it begins */
uint64_t engine_event_count(const struct engine *engine); /* inputs given to the core */
uint64_t engine_fact_count(const struct engine *engine);
uint64_t engine_pass_count(const struct engine *engine);
uint64_t engine_visit_count(const struct engine *engine); /* nodes that passes looked at */

/* Jobs submitted so far, in order of task id: task t is record t - 1. */
const struct job_record *engine_records(const struct engine *engine, size_t *ret_count);
const struct job_record *engine_records_at(const struct engine *engine, task_id task);
size_t engine_jobs_arrived(const struct engine *engine); /* refused ones included */

/* What an attempt that is just ending held, and since when it ran (NOT_YET: it had not started). */
struct held {
    int64_t slots_milli;
    node_id node;
    int64_t started_ms;
};
struct held engine_records_held(const struct engine *engine, const struct attempt_key *key);

/* Projects in order of their first task; NULL beyond the last. */
const char *engine_records_account_name(const struct engine *engine, uint32_t account);
