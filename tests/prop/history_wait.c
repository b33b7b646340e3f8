/* history_wait.c - an explanation names a change that helps a waiting task. The change is made
 * on a copy and must help.
 * SPDX-License-Identifier: Apache-2.0 */
#include "history_wait.h"

#include "core/preview.h"
#include "core/sched/explain/explain.h"
#include "history.h"
#include "tape.h"

/* Gives an input to the copy; false: the input was refused or changed nothing. */
static bool copy_step(struct world *world, struct core *copy, struct input in, struct facts *ret)
{
    fact_list_init(ret, &world->arena);
    in.now_ms = in.now_ms > world->now_ms ? in.now_ms : world->now_ms;
    in.actor = "user:prop";
    in.cause = "";
    if (core_decide(copy, &in, ret) != VERDICT_OK) {
        return false;
    }
    for (size_t i = 0; i < ret->count; i++) {
        core_apply(copy, &ret->at[i]);
    }
    return ret->count > 0;
}

/* True when the task starts at this moment with this spec. */
static bool starts_with(struct world *world, const struct task *task, const struct task_spec *asks)
{
    struct core *copy = core_copy(world->core);
    const struct task_edit edit = {.fields = TASK_EDIT_resources, .spec = asks};
    struct input in = {.type = INPUT_TASK_EDIT};
    in.task.task = task->id;
    in.task.edit = &edit;
    struct input pass = {.type = INPUT_PASS};
    pass.pass.pool = task->pool;
    pass.pass.work_max = UINT64_MAX;
    struct facts facts;
    bool going = copy_step(world, copy, in, &facts);
    while (going && query_task(copy, task->id)->active_count == 0) {
        going = copy_step(world, copy, pass, &facts);
    }
    const bool started = query_task(copy, task->id)->active_count > 0;
    core_free(copy);
    return started;
}

/* True when a task gets a place, a promise or a reservation. */
static bool places_somebody(const struct facts *facts)
{
    for (size_t i = 0; i < facts->count; i++) {
        const enum fact_type type = facts->at[i].type;
        if (type == FACT_EVICTED || type == FACT_CLAIMED || type == FACT_ALLOCATED ||
            type == FACT_RESERVED) {
            return true;
        }
    }
    return false;
}

/* The reason says that only time is missing. When the time has passed, this task or a task ahead
 * of it must get a place. */
static void until_check(struct world *world, const struct task *task, int64_t until_ms)
{
    const struct pool *pool = query_pool(world->core, task->pool);
    struct core *copy = core_copy(world->core);
    struct input pass = {.type = INPUT_PASS, .now_ms = until_ms};
    struct facts facts;
    bool placed = false;
    pass.pass.pool = pool->id;
    pass.pass.work_max = UINT64_MAX;
    law(until_ms > query_time_ms(world->core), "P8: what is waited for has not passed");
    while (!placed && copy_step(world, copy, pass, &facts)) {
        placed = places_somebody(&facts);
    }
    law(placed || pool->history_half_life_ms != 0 || pool->history_window_ms != 0,
        "P8: when the time has passed, somebody takes");
    core_free(copy);
}

/* A proposal is shown to a person only where a preview gives the task a place. */
static bool is_shown(struct world *world, const struct input *edit)
{
    struct preview *preview = NULL;
    struct facts facts;
    struct input in = *edit;
    in.now_ms = world->now_ms;
    in.actor = "explain";
    in.cause = "";
    const struct preview_ask ask = {.inputs = &in, .count = 1, .brief = true};
    fact_list_init(&facts, &world->arena);
    const bool shown = preview_run(world->core, &ask, &facts, &preview) == VERDICT_OK &&
                       preview_starts(preview, in.task.task);
    preview_free(preview);
    return shown;
}

/* The explanation names a priority that helps. With this priority the task must get a promise or
 * start. */
static void priority_check(struct world *world, const struct task *task, uint32_t priority)
{
    struct core *copy = core_copy(world->core);
    const struct task_edit edit = {.fields = TASK_EDIT_priority,
                                   .spec = &(struct task_spec){.priority = priority}};
    struct input in = {.type = INPUT_TASK_EDIT};
    struct input pass = {.type = INPUT_PASS};
    struct facts facts;
    in.task.task = task->id;
    in.task.edit = &edit;
    if (!is_shown(world, &in)) {
        core_free(copy);
        return;
    }
    pass.pass.pool = task->pool;
    pass.pass.work_max = UINT64_MAX;
    bool going = copy_step(world, copy, in, &facts);
    const struct task *now = query_task(copy, task->id);
    while (going && now->claimed_count == 0 && now->active_count == 0) {
        going = copy_step(world, copy, pass, &facts);
        now = query_task(copy, task->id);
    }
    law(now->claimed_count > 0 || now->active_count > 0, "P8: the priority that would help does");
    core_free(copy);
}

static void wait_check(struct world *world, const struct task *task)
{
    struct explanation why;
    struct task_spec spec;
    explain_task(world->core, task->id, &why);
    const uint32_t priority =
        explain_time_for_room(why.reason.code) ? explain_time_priority(world->core, task->id) : 0;
    if (priority != 0) {
        priority_check(world, task, priority);
    }
    if (why.reason.code == REASON_MIN_RUNTIME || why.reason.code == REASON_PREEMPTION_DELAY) {
        until_check(world, task, why.reason.until_ms);
    }
    if (task->gang || why.reason.smallest <= 0 || why.reason.code >= REASON_UNKNOWN_POOL) {
        /* If no node can hold the task any more, the reason names an amount for a new
         * submission. */
        return;
    }
    query_task_spec(world->core, task->id, &world->arena, &spec);
    spec.avoid_count = 0; /* avoided nodes are no amount; an edit leaves them as they are */
    int64_t *amount = spec_amount(world, &spec, &why.reason);
    if (amount == NULL) {
        return;
    }
    const int64_t asked = *amount;
    const int64_t step = amount == &spec.slots_milli && asked >= SLOT_MILLI ? SLOT_MILLI : 1;
    law(why.reason.smallest < asked, "P8: what would help is a smaller amount");
    *amount = why.reason.smallest;
    law(starts_with(world, task, &spec), "P8: with what would help the task starts");
    /* Where tasks may be moved or evicted, a larger amount may find room too. */
    *amount = why.reason.smallest + step;
    law(*amount == asked || !query_pool(world->core, task->pool)->preemption_off ||
            !starts_with(world, task, &spec),
        "P8: the change is the smallest");
}

void waits_check(struct world *world, pool_id pool)
{
    tape_does(world, "waits", pool.v, 0);
    for (const struct task *task = query_task_next(world->core, (task_id){0}); task != NULL;
         task = query_task_next(world->core, task->id)) {
        const bool can_change = task->queued && task->active_count == 0 && task->claimed_count == 0;
        if (task->pool.v == pool.v && can_change) {
            wait_check(world, task);
        }
    }
    tape_done(world);
}
