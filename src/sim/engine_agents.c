/* engine_agents.c - virtual agents: nodes that join, crash and return, and the runs on them.
 *
 * A run has one timer, for the next thing that happens to it. A node that is cut off goes on
 * working and reports when it is connected again. A node that crashes forgets everything and
 * joins again with a new supervisor.
 * SPDX-License-Identifier: Apache-2.0 */
#include "sim/engine_internal.h"
#include "sim/scenario_check.h"

enum {
    EXIT_TERMINATED = 143,
    EXIT_FAILED_RUN = 1,
    RUN_LEFT_MIN_MS = 1000, /* least time left of a run that exists when the scenario begins */
};

/* ---- runs ---- */

static void report_at(struct engine *engine, const struct run *run, enum report_type type,
                      int64_t at_ms)
{
    const struct report said = {
        .type = type,
        .key = run->key,
        .incarnation = run->incarnation,
        .at_ms = at_ms,
        .exit_code = type == REPORT_ENDED ? run->exit_code : 0,
    };
    struct input in = {
        .type = INPUT_REPORT,
        .actor = "node",
        .report = {.node = engine->nodes.at[run->node]->id, .reports = &said, .count = 1},
    };
    struct facts facts;
    must(engine_input(engine, &in, &facts) == VERDICT_OK);
}

static void report(struct engine *engine, const struct run *run, enum report_type type)
{
    report_at(engine, run, type, engine->now_ms);
}

/* Says how long the attempt that has just started runs, and sets its exit code. */
static int64_t plan_ms(struct engine *engine, struct run *run)
{
    const struct job *job = engine_records_of(engine, run->key.task)->job;
    const struct job_kind *kind = job->kind;
    if (job->runs_ms == RUNS_FOR_EVER) {
        return RUNS_FOR_EVER;
    }
    const int64_t left_ms = job->runs_ms > run->saved_ms ? job->runs_ms - run->saved_ms : 0;
    if (run->key.attempt <= kind->fails) {
        run->exit_code = EXIT_FAILED_RUN;
        return left_ms;
    }
    struct rng rng = rng_of(engine->scenario->seed, "failures",
                            run->key.task.v << 20 ^ run->key.index << 8 ^ run->key.attempt);
    if (kind->fail_millionths > 0 && rng_chance(&rng, kind->fail_millionths)) {
        run->exit_code = EXIT_FAILED_RUN;
        return left_ms / 2;
    }
    run->exit_code = kind->exit_code;
    return left_ms;
}

/* Returns how often the agent reports a checkpoint; 0: never. A task may save more often than an
 * agent reports (CHECKPOINT_INTERVAL_MS). */
static int64_t saves_every_ms(struct engine *engine, const struct run *run)
{
    const int64_t every_ms = engine_records_of(engine, run->key.task)->job->kind->checkpoint_ms;
    if (every_ms == 0 || every_ms >= CHECKPOINT_INTERVAL_MS) {
        return every_ms;
    }
    return (CHECKPOINT_INTERVAL_MS + every_ms - 1) / every_ms * every_ms;
}

/* Sets the timer of a run to its next checkpoint, or to its end if that comes first. */
static void run_next(struct engine *engine, struct run *run)
{
    const int64_t every_ms = saves_every_ms(engine, run);
    const bool ends = run->ends_ms != RUNS_FOR_EVER;
    if (every_ms > 0 && (!ends || engine->now_ms + every_ms < run->ends_ms)) {
        engine_timer(engine, &run->timer, engine->now_ms + every_ms);
    } else if (ends) {
        engine_timer(engine, &run->timer, run->ends_ms);
    }
}

static void run_saved(struct engine *engine, struct run *run)
{
    if (engine->nodes.at[run->node]->connected) {
        report(engine, run, REPORT_CHECKPOINT);
    } else {
        run->unsaid_ms = engine->now_ms;
    }
    run_next(engine, run);
}

static void run_started(struct engine *engine, struct run *run)
{
    run->step = RUN_RUNNING;
    run->started_ms = engine->now_ms;
    run->unsaid_ms = 0;
    const int64_t left_ms = plan_ms(engine, run);
    run->ends_ms = left_ms == RUNS_FOR_EVER ? RUNS_FOR_EVER : engine->now_ms + left_ms;
    run_next(engine, run);
    if (engine->nodes.at[run->node]->connected) {
        report(engine, run, REPORT_STARTED);
    }
}

static void run_ended(struct engine *engine, struct run *run)
{
    if (engine->nodes.at[run->node]->connected) {
        report(engine, run, REPORT_ENDED);
    } else {
        run->step = RUN_UNSAID;
    }
}

static void run_timer(struct engine *engine, struct run *run)
{
    switch (run->step) {
    case RUN_STARTING:
        run_started(engine, run);
        return;
    case RUN_RUNNING:
        if (run->ends_ms == RUNS_FOR_EVER || engine->now_ms < run->ends_ms) {
            run_saved(engine, run);
        } else {
            run_ended(engine, run);
        }
        return;
    case RUN_STOPPING:
        run_ended(engine, run);
        return;
    case RUN_NONE:
    case RUN_UNSAID:
        break;
    }
    must(run->step == RUN_STARTING);
}

static void order_start(struct engine *engine, const struct effect *effect)
{
    struct run *run = engine_records_run(engine, &effect->key);
    if (run->step != RUN_NONE) {
        /* The order is repeated after a reconnection. */
        must(run->key.attempt == effect->key.attempt);
        return;
    }
    must(effect->node.v < engine->node_of.count);
    run->timer.kind = TIMER_RUN;
    run->key = effect->key;
    run->node = engine->node_of.at[effect->node.v];
    run->incarnation = effect->incarnation;
    run->step = RUN_STARTING;
    engine->active_runs++;
    if (engine->nodes.at[run->node]->alive) {
        engine_timer(engine, &run->timer, engine->now_ms + engine->scenario->start_delay_ms);
    }
}

static void order_stop(struct engine *engine, const struct effect *effect)
{
    if (engine_records_of(engine, effect->key.task)->runs == NULL) {
        /* An attempt of a gang that was told to stop and ended with its lost node in the same
         * step. */
        return;
    }
    struct run *run = engine_records_run(engine, &effect->key);
    if (run->step == RUN_NONE || run->step == RUN_UNSAID ||
        !engine->nodes.at[run->node]->connected) {
        return;
    }
    const struct job_kind *kind = engine_records_of(engine, effect->key.task)->job->kind;
    const int64_t takes_ms =
        kind->stops_in_ms < effect->grace_ms ? kind->stops_in_ms : effect->grace_ms;
    const int64_t at_ms = engine->now_ms + takes_ms;
    if (run->step == RUN_STOPPING && run->timer.entry.key <= at_ms) {
        return;
    }
    run->step = RUN_STOPPING;
    run->exit_code = EXIT_TERMINATED;
    engine_timer(engine, &run->timer, at_ms);
}

void engine_agents_effect(struct engine *engine, const struct effect *effect)
{
    switch (effect->type) {
    case EFFECT_START:
        order_start(engine, effect);
        return;
    case EFFECT_STOP:
        order_stop(engine, effect);
        return;
    case EFFECT_ARCHIVE:
        return; /* the records keep ended jobs */
    case EFFECT_LAUNCH:
    case EFFECT_TERMINATE:
        engine_launch_effect(engine, effect);
        return;
    }
}

void engine_agents_running(struct engine *engine, const struct attempt_key *key)
{
    struct run *run = engine_records_run(engine, key);
    must(run->step == RUN_STARTING);
    run_started(engine, run);
    if (run->ends_ms != RUNS_FOR_EVER && run->ends_ms < engine->epoch_ms + RUN_LEFT_MIN_MS) {
        run->ends_ms = engine->epoch_ms + RUN_LEFT_MIN_MS;
        engine_timer(engine, &run->timer, run->ends_ms);
    }
}

void engine_agents_saved(struct engine *engine, const struct attempt_key *key)
{
    report(engine, engine_records_run(engine, key), REPORT_CHECKPOINT);
}

void engine_agents_forget(struct engine *engine, struct run *run)
{
    if (run->step != RUN_NONE) {
        engine_timer_off(engine, &run->timer);
        run->step = RUN_NONE;
        engine->active_runs--;
    }
}

/* ---- nodes ---- */

static must_use enum err join(struct engine *engine, uint32_t index, struct error *e)
{
    struct virtual_node *node = engine->nodes.at[index];
    struct node_spec spec = node->node->spec;
    must(sizeof node->supervisor + sizeof index <= sizeof spec.supervisor);
    memcpy(spec.supervisor, &index, sizeof index);
    memcpy(spec.supervisor + sizeof index, &node->supervisor, sizeof node->supervisor);
    struct input in = {.type = INPUT_NODE_JOIN, .actor = "node", .node = {.spec = &spec}};
    struct facts facts;
    if (engine_input(engine, &in, &facts) != VERDICT_OK) {
        (void)engine_edits_refused(engine, &facts.refusal, e);
        return fail_in(e, "node '%s' cannot join", spec.name);
    }
    const struct node *row = query_node_named(engine->core, spec.name);
    must(row != NULL);
    node->id = row->id;
    while (engine->node_of.count <= row->id.v) {
        vec_push(&engine->node_of, 0);
    }
    engine->node_of.at[row->id.v] = index;
    return ERR_OK;
}

static void node_input(struct engine *engine, const struct virtual_node *node, enum input_type type)
{
    struct input in = {.type = type, .actor = "server", .node = {.node = node->id}};
    struct facts facts;
    must(engine_input(engine, &in, &facts) == VERDICT_OK);
}

/* Cuts a node off: the server hears nothing of the node from now on. */
static void fall_silent(struct engine *engine, struct virtual_node *node, int64_t for_ms)
{
    node->connected = false;
    node_input(engine, node, INPUT_NODE_SILENT);
    engine_timer(engine, &node->lost, engine->now_ms + engine->scenario->lost_after_ms);
    if (for_ms > 0) {
        engine_timer(engine, &node->back, engine->now_ms + for_ms);
    }
}

void engine_agents_crash(struct engine *engine, uint32_t index, int64_t for_ms)
{
    struct virtual_node *node = engine->nodes.at[index];
    if (!node->alive || node->id.v == 0) {
        return;
    }
    struct attempt_key cursor = {0};
    const struct instance *instance;
    while ((instance = query_node_instance_next(engine->core, node->id, &cursor)) != NULL) {
        const struct attempt_key key = {instance->task, instance->index, instance->attempt};
        engine_timer_off(engine, &engine_records_run(engine, &key)->timer);
    }
    node->alive = false;
    node->supervisor++;
    if (node->connected) {
        fall_silent(engine, node, for_ms);
    } else if (for_ms > 0) {
        engine_timer(engine, &node->back, engine->now_ms + for_ms);
    }
}

void engine_agents_cut(struct engine *engine, uint32_t index, int64_t for_ms)
{
    struct virtual_node *node = engine->nodes.at[index];
    if (node->connected) {
        fall_silent(engine, node, for_ms);
    }
}

/* Reports what started, was saved or ended while the node was cut off. The walk goes by key,
 * because a report may remove the instance that was just visited. */
static void say_unsaid(struct engine *engine, const struct virtual_node *node)
{
    struct attempt_key cursor = {0};
    const struct instance *instance;
    while ((instance = query_node_instance_next(engine->core, node->id, &cursor)) != NULL) {
        const struct attempt_key key = {instance->task, instance->index, instance->attempt};
        struct run *run = engine_records_run(engine, &key);
        if (run->step == RUN_RUNNING && instance->state == INSTANCE_STARTING) {
            report(engine, run, REPORT_STARTED);
        }
        if (run->unsaid_ms > 0) {
            report_at(engine, run, REPORT_CHECKPOINT, run->unsaid_ms);
            run->unsaid_ms = 0;
        }
        if (run->step == RUN_UNSAID) {
            report(engine, run, REPORT_ENDED); /* the run may be gone after this report */
        }
    }
}

enum err engine_agents_up(struct engine *engine, uint32_t index, struct error *e)
{
    struct virtual_node *node = engine->nodes.at[index];
    if (node->connected) {
        return ERR_OK;
    }
    engine_timer_off(engine, &node->lost);
    engine_timer_off(engine, &node->back);
    node->alive = true;
    node->connected = true;
    enum err r = join(engine, index, e);
    if (r != ERR_OK) {
        return r;
    }
    say_unsaid(engine, node);
    struct effects orders = {0};
    core_orders_for(engine->core, node->id, &orders);
    for (size_t i = 0; i < orders.count; i++) {
        engine_agents_effect(engine, &orders.at[i]);
    }
    effect_done(&orders);
    if (engine->scenario->crash_every_ms > 0) {
        engine_timer(engine, &node->crash,
                     engine->now_ms + 1 +
                         rng_exponential(&node->rng, engine->scenario->crash_every_ms));
    }
    return ERR_OK;
}

static void crash_by_chance(struct engine *engine, uint32_t index)
{
    struct virtual_node *node = engine->nodes.at[index];
    const int64_t repair_ms = 1 + rng_exponential(&node->rng, engine->scenario->repair_ms);
    if (node->alive) {
        engine_agents_crash(engine, index, repair_ms);
    }
}

void engine_agents_timer(struct engine *engine, struct timer *timer)
{
    struct error e;
    switch (timer->kind) {
    case TIMER_RUN:
        run_timer(engine, (struct run *)timer);
        return;
    case TIMER_LOST:
        node_input(engine, engine->nodes.at[timer->node], INPUT_NODE_LOST);
        return;
    case TIMER_BACK:
        if (engine->nodes.at[timer->node]->unanswered) {
            engine_launch_answer(engine, timer->node);
            return;
        }
        /* The node joined before with the same amounts, so the core cannot refuse it. */
        must(engine_agents_up(engine, timer->node, &e) == ERR_OK);
        return;
    case TIMER_CRASH:
        crash_by_chance(engine, timer->node);
        return;
    case TIMER_TAKEN:
    case TIMER_GONE:
        engine_launch_gone(engine, timer->node);
        return;
    }
}

uint32_t engine_agents_add(struct engine *engine, const struct cluster_node *node)
{
    const uint32_t index = (uint32_t)engine->nodes.count;
    struct virtual_node *virtual = arena_new(&engine->arena, struct virtual_node, 1);
    *virtual = (struct virtual_node){
        .node = node,
        .rng = rng_of(engine->scenario->seed, "crashes", index),
        .lost = {.kind = TIMER_LOST, .node = index},
        .back = {.kind = TIMER_BACK, .node = index},
        .crash = {.kind = TIMER_CRASH, .node = index},
        .gone = {.kind = TIMER_GONE, .node = index},
        .taken = {.kind = TIMER_TAKEN, .node = index},
    };
    vec_push(&engine->nodes, virtual);
    return index;
}

enum err engine_agents_begin(struct engine *engine, struct error *e)
{
    const struct scenario *scenario = engine->scenario;
    for (uint32_t i = 0; i < scenario->nodes.count; i++) {
        const struct cluster_node *node = &scenario->nodes.at[i];
        (void)engine_agents_add(engine, node);
        const size_t len = strlen(node->spec.name);
        void *index = (void *)(uintptr_t)(i + 1);
        must(map_put(engine->nodes_named, node->spec.name, len, index) == NULL);
        enum err r = node->later ? ERR_OK : engine_agents_up(engine, i, e);
        if (r != ERR_OK) {
            return scenario_check_fail_in(scenario, node->doc, e);
        }
    }
    return ERR_OK;
}
