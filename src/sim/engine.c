/* engine.c - the clock, and the step of the core.
 * SPDX-License-Identifier: Apache-2.0 */
#include "sim/engine.h"

#include "sim/engine_internal.h"

enum {
    EPOCH_MS = 1000,       /* the core's time at the first moment; in the core 0 means "never" */
    PASS_WORK_MAX = 20000, /* as in the server */
    /* If one moment has more inputs than this, the rules run in a circle. */
    MOMENT_INPUTS_MAX = 100000000,
};

struct engine *engine_new(const struct scenario *scenario, const struct engine_options *options)
{
    struct engine *engine = xcalloc(1, sizeof *engine);
    must(options->watcher_count <= ENGINE_WATCHERS_MAX);
    engine->scenario = scenario;
    engine->options = *options;
    engine->core = core_new();
    const bool past = scenario->jobs.count > 0 && scenario->jobs.at[0].at_ms < 0;
    engine->now_ms = EPOCH_MS;
    engine->epoch_ms = EPOCH_MS + (past ? -scenario->jobs.at[0].at_ms : 0);
    engine->deadline_seen_ms = INT64_MIN;
    engine->account_index = map_new();
    engine->tasks_named = map_new();
    engine->nodes_named = map_new();
    arena_init(&engine->arena);
    arena_init(&engine->step_arena);
    return engine;
}

void engine_free(struct engine *engine)
{
    if (engine == NULL) {
        return;
    }
    for (size_t i = 0; i < engine->records.count; i++) {
        free(engine->records.at[i].runs);
    }
    core_free(engine->core);
    heap_done(&engine->heap);
    vec_done(&engine->records);
    vec_done(&engine->nodes);
    vec_done(&engine->launched);
    vec_done(&engine->node_of);
    vec_done(&engine->accounts);
    vec_done(&engine->batch);
    map_free(engine->account_index);
    map_free(engine->tasks_named);
    map_free(engine->nodes_named);
    effect_done(&engine->effects);
    arena_done(&engine->arena);
    arena_done(&engine->step_arena);
    free(engine);
}

/* ---- the step ---- */

static void fact_tell(struct engine *engine, const struct fact *fact)
{
    engine_records_fact(engine, fact);
    for (uint32_t i = 0; i < engine->options.watcher_count; i++) {
        const struct watcher *watcher = &engine->options.watchers[i];
        if (watcher->fact != NULL) {
            watcher->fact(watcher->ctx, engine, fact);
        }
    }
    engine_records_fact_end(engine, fact);
}

static void step_tell(const struct engine *engine, const struct input *in,
                      const struct facts *facts)
{
    for (uint32_t i = 0; i < engine->options.watcher_count; i++) {
        const struct watcher *watcher = &engine->options.watchers[i];
        if (watcher->step != NULL) {
            watcher->step(watcher->ctx, engine, in, facts);
        }
    }
}

/* Carries out the effects of a step, after the step. Carrying out an effect only sets timers. */
static void effects_carry_out(struct engine *engine)
{
    for (size_t i = 0; i < engine->effects.count; i++) {
        engine_agents_effect(engine, &engine->effects.at[i]);
    }
    engine->effects.count = 0;
}

enum verdict engine_input(struct engine *engine, struct input *in, struct facts *ret_facts)
{
    in->now_ms = engine->now_ms;
    in->cause = "";
    arena_clear(&engine->step_arena);
    fact_list_init(ret_facts, &engine->step_arena);
    const enum verdict verdict = core_decide(engine->core, in, ret_facts);
    engine->event_count++;
    for (size_t i = 0; verdict == VERDICT_OK && i < ret_facts->count; i++) {
        core_apply(engine->core, &ret_facts->at[i]);
        core_react(engine->core, &ret_facts->at[i], &engine->effects);
        fact_tell(engine, &ret_facts->at[i]);
    }
    engine->fact_count += ret_facts->count;
    engine->visit_count += ret_facts->visited;
    if (engine->options.check) {
        core_check(engine->core);
    }
    step_tell(engine, in, ret_facts);
    effects_carry_out(engine);
    return verdict;
}

/* ---- timers ---- */

/* Something that goes on for ever, and for which alone a run does not go on. */
static bool is_by_chance(const struct timer *timer)
{
    return timer->kind == TIMER_CRASH || timer->kind == TIMER_TAKEN;
}

void engine_timer(struct engine *engine, struct timer *timer, int64_t at_ms)
{
    if (is_by_chance(timer) && !heap_has(&timer->entry)) {
        engine->crash_timers++;
    }
    heap_set(&engine->heap, &timer->entry, at_ms);
}

void engine_timer_off(struct engine *engine, struct timer *timer)
{
    if (is_by_chance(timer) && heap_has(&timer->entry)) {
        engine->crash_timers--;
    }
    heap_remove(&engine->heap, &timer->entry);
}

static bool timer_is_due(const struct engine *engine)
{
    const struct heap_entry *first = heap_first(&engine->heap);
    return first != NULL && first->key <= engine->now_ms;
}

static void timers_due(struct engine *engine)
{
    while (timer_is_due(engine)) {
        struct timer *timer = (struct timer *)heap_first(&engine->heap);
        engine_timer_off(engine, timer);
        engine_agents_timer(engine, timer);
    }
}

/* ---- one moment ---- */

static bool ticks_due(struct engine *engine)
{
    bool any = false;
    for (;;) {
        const int64_t deadline_ms = query_deadline(engine->core);
        if (deadline_ms > engine->now_ms || deadline_ms == engine->deadline_seen_ms) {
            return any;
        }
        struct input tick = {.type = INPUT_TICK, .actor = "timer"};
        struct facts facts;
        must(engine_input(engine, &tick, &facts) == VERDICT_OK);
        if (facts.count == 0) {
            /* The deadline is the end of a pool's patience, at which a pass is due. If the pass
             * changes nothing, the deadline stays and must not stop the clock. */
            engine->deadline_seen_ms = deadline_ms;
            return any;
        }
        any = true;
    }
}

static bool passes_due(struct engine *engine)
{
    bool any = false;
    pool_id pool;
    while (query_pass_due(engine->core, engine->now_ms, &pool)) {
        struct input pass = {
            .type = INPUT_PASS,
            .actor = "scheduler",
            .pass = {.pool = pool, .work_max = PASS_WORK_MAX},
        };
        struct facts facts;
        must(engine_input(engine, &pass, &facts) == VERDICT_OK);
        engine->pass_count++;
        if (facts.count == 0) {
            core_pass_idle(engine->core, pool);
        } else {
            any = true;
        }
    }
    return any;
}

static must_use enum err moment(struct engine *engine, struct error *e)
{
    const uint64_t began = engine->event_count;
    bool more = true;
    while (more) {
        timers_due(engine);
        enum err r = engine_inputs_due(engine, e);
        if (r != ERR_OK) {
            return r;
        }
        more = ticks_due(engine);
        more |= passes_due(engine);
        more |= timer_is_due(engine); /* timers that this round has set */
        must(engine->event_count - began < MOMENT_INPUTS_MAX);
    }
    return ERR_OK;
}

/* ---- the clock ---- */

static int64_t deadline_next_ms(const struct engine *engine)
{
    const int64_t deadline_ms = query_deadline(engine->core);
    return deadline_ms <= engine->now_ms ? INT64_MAX : deadline_ms;
}

static bool nothing_left(const struct engine *engine)
{
    return engine->job_next == engine->scenario->jobs.count && engine->live_tasks == 0;
}

/* Returns the next moment at which something happens; INT64_MAX: there is none that matters. */
static int64_t next_ms(const struct engine *engine)
{
    const struct heap_entry *first = heap_first(&engine->heap);
    int64_t next = engine_inputs_next_ms(engine);
    const int64_t deadline_ms = deadline_next_ms(engine);
    next = deadline_ms < next ? deadline_ms : next;
    const bool only_crashes = engine->heap.count == engine->crash_timers;
    if (next == INT64_MAX && only_crashes && engine->active_runs == 0) {
        return INT64_MAX; /* a crash of an idle node changes nothing */
    }
    if (first != NULL && first->key < next) {
        next = first->key;
    }
    return next;
}

static void instant_tell(const struct engine *engine, int64_t next)
{
    const int64_t shown = next == INT64_MAX ? next : next - engine->epoch_ms;
    for (uint32_t i = 0; i < engine->options.watcher_count; i++) {
        const struct watcher *watcher = &engine->options.watchers[i];
        if (watcher->instant != NULL) {
            watcher->instant(watcher->ctx, engine, shown);
        }
    }
}

enum err engine_run(struct engine *engine, struct error *e)
{
    const int64_t until_ms = engine->scenario->until_ms;
    const int64_t last_ms = until_ms > 0 ? until_ms + engine->epoch_ms : TIME_MS_MAX;
    enum err r = engine_inputs_begin(engine, e);
    r = r == ERR_OK ? engine_agents_begin(engine, e) : r;
    r = r == ERR_OK ? engine_inputs_quotas(engine, e) : r;
    if (r == ERR_OK) {
        engine_initial_begin(engine);
    }
    while (r == ERR_OK && !engine->stopped) {
        r = moment(engine, e);
        int64_t next = until_ms == 0 && nothing_left(engine) ? INT64_MAX : next_ms(engine);
        if (next > last_ms) {
            next = INT64_MAX;
        }
        if (r == ERR_OK) {
            instant_tell(engine, next);
        }
        if (r != ERR_OK || next == INT64_MAX) {
            break;
        }
        must(next > engine->now_ms);
        /* Watchers have counted up to here, also when this was the last moment. */
        engine->now_ms = next;
        engine->stopped = engine->options.stop != NULL && *engine->options.stop != 0;
    }
    if (r == ERR_OK && !engine->stopped && until_ms > 0 && engine->now_ms < last_ms) {
        engine->now_ms = last_ms; /* the run lasts until the end that was asked for */
        instant_tell(engine, INT64_MAX);
    }
    return r;
}

/* ---- queries ---- */

bool engine_stopped(const struct engine *engine)
{
    return engine->stopped;
}

const struct core *engine_core(const struct engine *engine)
{
    return engine->core;
}

const struct scenario *engine_scenario(const struct engine *engine)
{
    return engine->scenario;
}

int64_t engine_now_ms(const struct engine *engine)
{
    return engine->now_ms - engine->epoch_ms;
}

int64_t engine_epoch_ms(const struct engine *engine)
{
    return engine->epoch_ms;
}

struct engine_counts engine_counts(const struct engine *engine)
{
    return (struct engine_counts){.events = engine->event_count,
                                  .facts = engine->fact_count,
                                  .passes = engine->pass_count,
                                  .visits = engine->visit_count,
                                  .jobs_arrived = engine->job_next};
}
