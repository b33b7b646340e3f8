/* engine_internal.h - the parts of the engine: the clock and the step (engine.c), arrivals and
 * actions (engine_inputs.c), virtual agents (engine_agents.c), the records of jobs
 * (engine_records.c).
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/heap.h"
#include "base/map.h"
#include "sim/rng.h"
#include "sim/engine.h"

/* What happens when a timer is due. */
enum timer_kind {
    TIMER_RUN,   /* a run starts, saves, ends or stops */
    TIMER_LOST,  /* a silent node is lost */
    TIMER_BACK,  /* a node returns */
    TIMER_CRASH, /* a node crashes at random */
    TIMER_GONE,  /* the machine of a launch has ended */
    TIMER_TAKEN, /* the provider takes the machine of a launch back */
};

struct timer {
    /* First member, so that the heap's pointer is also a pointer to the timer. */
    struct heap_entry entry;
    enum timer_kind kind;
    uint32_t node; /* index into engine.nodes; unused for TIMER_RUN */
};

enum run_step {
    RUN_NONE,     /* no agent has the run */
    RUN_STARTING, /* ordered and not started yet */
    RUN_RUNNING,
    RUN_STOPPING, /* told to stop */
    RUN_UNSAID,   /* ended, but the node is cut off and cannot report it yet */
};

/* An instance as its agent sees it. */
struct run {
    struct timer timer; /* first member, as in struct timer */
    struct attempt_key key;
    uint32_t node; /* index into engine.nodes */
    uint32_t incarnation;
    enum run_step step;
    int32_t exit_code;   /* of an end that is not reported yet */
    int64_t slots_milli; /* slots that the attempt holds */
    int64_t started_ms;  /* or NOT_YET */
    int64_t ends_ms;     /* end without a stop; RUNS_FOR_EVER: never */
    int64_t unsaid_ms;   /* time of a checkpoint that is not reported yet; 0: none */
    int64_t saved_ms;    /* work that a further attempt need not do again */
    int64_t lost_ms;     /* work of this attempt that a further attempt must do again */
    bool running;        /* the core knows that the attempt runs */
};

struct virtual_node {
    const struct cluster_node *node;
    node_id id; /* 0: has not joined yet */
    uint32_t supervisor;
    bool alive;     /* the node has power */
    bool connected; /* the node is alive and the server hears it */
    struct rng rng;
    struct timer lost;
    struct timer back;
    struct timer crash;
    struct timer gone;
    struct timer taken;
    bool refused;    /* the provider has no machine for the launch */
    bool unanswered; /* the provider says at once whether it has a machine */
    enum provider_why why;
    launch_id launch; /* the launch that brought the node up; 0: the scenario has the node */
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
    int64_t epoch_ms;         /* the core's time when the scenario begins */
    int64_t deadline_seen_ms; /* a deadline of the core at which nothing changed */
    struct heap heap;
    size_t
        crash_timers; /* timers of random crashes and of nodes that are taken back; a run does not go on for them alone */
    size_t active_runs;
    size_t live_tasks;
    size_t job_next;
    size_t action_next;
    VEC(struct job_record) records;
    /* The nodes of the scenario in its order, then the nodes that pools asked for. In the arena: timers must not move. */
    VEC(struct virtual_node *) nodes;
    VEC(uint32_t) launched; /* launch id -> index into nodes */
    VEC(uint32_t) node_of;  /* node id -> index into nodes */
    VEC(const char *) accounts;
    struct map *account_index; /* name -> struct account_name */
    struct map *tasks_named;   /* name -> task id, if names are needed */
    struct map *nodes_named;   /* name -> 1 + index */
    struct arena arena;        /* freed at the end of the run */
    struct arena step_arena;   /* cleared for each input */
    struct effects effects;
    VEC(const struct job *) batch; /* jobs of the submission under way */
    size_t batch_next;
    uint64_t event_count;
    uint64_t fact_count;
    uint64_t pass_count;
    uint64_t visit_count;
    bool stopped; /* options.stop ended the run */
};

/* ---- engine.c ---- */

/* Takes one input through decide, apply and react. Effects go to the agents. */
enum verdict engine_input(struct engine *engine, struct input *in, struct facts *ret_facts);

void engine_timer(struct engine *engine, struct timer *timer, int64_t at_ms);
void engine_timer_off(struct engine *engine, struct timer *timer);

/* ---- engine_inputs.c ---- */

/* Creates pools and accounts. Quotas come later, when nodes have brought their resources. */
must_use enum err engine_inputs_begin(struct engine *engine, struct error *e);
must_use enum err engine_inputs_quotas(struct engine *engine, struct error *e);
/* Gives the core every arrival and action that is due. */
must_use enum err engine_inputs_due(struct engine *engine, struct error *e);
int64_t engine_inputs_next_ms(const struct engine *engine);
/* Gives the core the arrivals that are due. */
void engine_inputs_jobs(struct engine *engine);

/* ---- engine_initial.c ---- */

/* Submits the tasks that exist before the scenario begins, and gives running tasks their places.
 * Each gets its own time, so that waits, lengths and lost work come out right. Leaves the clock
 * at the beginning of the scenario. */
void engine_initial_begin(struct engine *engine);

/* ---- engine_edits.c ---- */

/* Fails with ERR_INVALID and the sentence that the server would give. */
enum err engine_edits_refused(const struct engine *engine, const struct reason *reason,
                              struct error *e);

/* Creates an object, or changes it to this definition. */
must_use enum err engine_edits_flavor(struct engine *engine, const struct flavor_spec *spec,
                                      struct error *e);
must_use enum err engine_edits_pool(struct engine *engine, const struct pool_spec *spec,
                                    struct error *e);
must_use enum err engine_edits_account(struct engine *engine, const struct account_spec *spec,
                                       struct error *e);
must_use enum err engine_edits_quota(struct engine *engine, const struct quota_body *body,
                                     struct error *e);
/* Carries out an event that has a body. */
must_use enum err engine_edits_action(struct engine *engine, const struct scenario_action *action,
                                      struct error *e);

/* ---- engine_launch.c ---- */

/* A pool asks for a node, or wants the machine of a launch to end. */
void engine_launch_effect(struct engine *engine, const struct effect *effect);
/* The provider says whether it has a machine for the node. */
void engine_launch_answer(struct engine *engine, uint32_t index);
/* The machine of the node has ended. */
void engine_launch_gone(struct engine *engine, uint32_t index);

/* ---- engine_agents.c ---- */

/* Adds a node that is not up yet. Returns its index in engine.nodes. */
uint32_t engine_agents_add(struct engine *engine, const struct cluster_node *node);
must_use enum err engine_agents_begin(struct engine *engine, struct error *e); /* nodes join */
void engine_agents_effect(struct engine *engine, const struct effect *effect);
void engine_agents_timer(struct engine *engine, struct timer *timer);
/* Lets an attempt that was ordered at this moment run from now on, at least until the scenario
 * has begun. */
void engine_agents_running(struct engine *engine, const struct attempt_key *key);
/* Reports a checkpoint of the attempt. */
void engine_agents_saved(struct engine *engine, const struct attempt_key *key);
/* Drops a run whose attempt the core has ended, whatever its agent was about to do. */
void engine_agents_forget(struct engine *engine, struct run *run);

void engine_agents_crash(struct engine *engine, uint32_t node, int64_t for_ms);
void engine_agents_cut(struct engine *engine, uint32_t node, int64_t for_ms);
must_use enum err engine_agents_up(struct engine *engine, uint32_t node, struct error *e);

/* ---- engine_records.c ---- */

/* Updates the records by a fact: once before the watchers are told, and once after. */
void engine_records_fact(struct engine *engine, const struct fact *fact);
void engine_records_fact_end(struct engine *engine, const struct fact *fact);
struct job_record *engine_records_of(struct engine *engine, task_id task);
struct run *engine_records_run(struct engine *engine, const struct attempt_key *key);
