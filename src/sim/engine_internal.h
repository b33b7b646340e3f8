/* engine_internal.h - the engine's parts: the clock and the step (engine.c), arrivals and actions
 * (engine_inputs.c), virtual agents (engine_agents.c), the book of jobs (engine_records.c).
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/heap.h"
#include "base/map.h"
#include "sim/rng.h"
#include "sim/engine.h"

/* Whose turn has come when an entry of the heap is due. */
enum timer_kind {
    TIMER_RUN,   /* a run has started, ended, or was stopped */
    TIMER_LOST,  /* a silent node is given up */
    TIMER_BACK,  /* a node returns */
    TIMER_CRASH, /* a node dies by the dice */
};

struct timer {
    struct heap_entry entry; /* first, so that the heap's pointer is the timer's */
    enum timer_kind kind;
    uint32_t node; /* index into engine.nodes, but for TIMER_RUN */
};

enum run_step {
    RUN_NONE,     /* not with any agent */
    RUN_STARTING, /* ordered */
    RUN_RUNNING,
    RUN_STOPPING, /* told to end */
    RUN_UNSAID,   /* over, but its node cannot say so yet */
};

/* An instance as its agent sees it. */
struct run {
    struct timer timer; /* first likewise */
    struct attempt_key key;
    uint32_t node; /* index into engine.nodes */
    uint32_t incarnation;
    enum run_step step;
    int32_t exit_code;   /* while RUN_UNSAID */
    int64_t slots_milli; /* what the attempt holds */
    int64_t started_ms;  /* or NOT_YET */
    int64_t ends_ms;     /* by itself; RUNS_FOR_EVER: never */
    int64_t unsaid_ms;   /* a checkpoint of which the server has not heard; 0: none */
    int64_t saved_ms;    /* work that need not be done again */
};

struct virtual_node {
    const struct cluster_node *node;
    node_id id; /* 0: has not joined yet */
    uint32_t supervisor;
    bool alive;     /* the machine is on */
    bool connected; /* and the server hears it */
    struct rng rng;
    struct timer lost;
    struct timer back;
    struct timer crash;
};

struct account_name {
    const char *name;
    uint32_t index;
};

struct engine {
    const struct scenario *scenario;
    struct engine_options options;
    struct core *core;
    int64_t now_ms;           /* the core's time */
    int64_t epoch_ms;         /* the same when the scenario begins */
    int64_t deadline_seen_ms; /* a deadline of the core that gave nothing when it came */
    struct heap heap;
    size_t crash_timers; /* of the heap: they alone keep nothing going */
    size_t active_runs;
    size_t live_tasks;
    size_t job_next;
    size_t action_next;
    VEC(struct job_record) records;
    VEC(struct virtual_node) nodes; /* as in the scenario */
    VEC(uint32_t) node_of;          /* by node id: index into nodes */
    VEC(const char *) accounts;
    struct map *account_index; /* name -> struct account_name */
    struct map *tasks_named;   /* name -> task id, where names are needed */
    struct map *nodes_named;   /* name -> 1 + index */
    struct arena arena;        /* of the whole run */
    struct arena step_arena;   /* of one input and its facts */
    struct effects effects;
    VEC(const struct job *) batch; /* jobs of the submission under way */
    size_t batch_next;
    uint64_t event_count;
    uint64_t fact_count;
    uint64_t pass_count;
    uint64_t visit_count;
    bool stopped; /* by options.stop */
};

/* ---- engine.c ---- */

/* One input through decide, apply and react; its effects go to the agents. */
enum verdict engine_input(struct engine *engine, struct input *in, struct facts *ret_facts);

void engine_timer(struct engine *engine, struct timer *timer, int64_t at_ms);
void engine_timer_off(struct engine *engine, struct timer *timer);

/* ---- engine_inputs.c ---- */

/* Pools and accounts; then, once nodes have brought their resources, quotas. */
must_use enum err engine_inputs_begin(struct engine *engine, struct error *e);
must_use enum err engine_inputs_quotas(struct engine *engine, struct error *e);
/* Everything whose time has come. */
must_use enum err engine_inputs_due(struct engine *engine, struct error *e);
int64_t engine_inputs_next_ms(const struct engine *engine);
/* Of these the jobs alone. */
void engine_inputs_jobs(struct engine *engine);

/* ---- engine_initial.c ---- */

/* What was there before the scenario begins: tasks are submitted, and those that run have their places. Each at its own time, so
 * that waits, run lengths and what an eviction would lose are what they were. Leaves the clock at the beginning. */
void engine_initial_begin(struct engine *engine);

/* ---- engine_edits.c ---- */

/* ERR_INVALID with the sentence that the server would say. */
enum err engine_edits_refused(const struct engine *engine, const struct reason *reason,
                              struct error *e);

/* Made, or changed to this. */
must_use enum err engine_edits_pool(struct engine *engine, const struct pool_spec *spec,
                                    struct error *e);
must_use enum err engine_edits_account(struct engine *engine, const struct account_spec *spec,
                                       struct error *e);
must_use enum err engine_edits_quota(struct engine *engine, const struct quota_body *body,
                                     struct error *e);
/* An event with a body. */
must_use enum err engine_edits_action(struct engine *engine, const struct scenario_action *action,
                                      struct error *e);

/* ---- engine_agents.c ---- */

must_use enum err engine_agents_begin(struct engine *engine, struct error *e); /* nodes join */
void engine_agents_effect(struct engine *engine, const struct effect *effect);
void engine_agents_timer(struct engine *engine, struct timer *timer);
/* An attempt that was ordered this moment runs since now, and at least until the scenario has begun. */
void engine_agents_running(struct engine *engine, const struct attempt_key *key);
/* It saves what it did. */
void engine_agents_saved(struct engine *engine, const struct attempt_key *key);
/* The core has ended this attempt: whatever its agent still does with it no longer matters. */
void engine_agents_forget(struct engine *engine, struct run *run);

void engine_agents_crash(struct engine *engine, uint32_t node, int64_t for_ms);
void engine_agents_cut(struct engine *engine, uint32_t node, int64_t for_ms);
must_use enum err engine_agents_up(struct engine *engine, uint32_t node, struct error *e);

/* ---- engine_records.c ---- */

/* Keeps the records up to date with a fact; before the watchers hear of it, and after. */
void engine_records_fact(struct engine *engine, const struct fact *fact);
void engine_records_fact_end(struct engine *engine, const struct fact *fact);
struct job_record *engine_records_of(struct engine *engine, task_id task);
struct run *engine_records_run(struct engine *engine, const struct attempt_key *key);
