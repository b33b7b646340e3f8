/* history_wait.c - what would help a task that waits: done on a copy, it helps.
 * SPDX-License-Identifier: Apache-2.0 */
#include "history_wait.h"

#include "core/sched/explain.h"
#include "history.h"

/* False: it was refused, or changed nothing. */
static bool copy_step(struct world *world, struct core *copy, struct input in)
{
    struct facts facts;
    facts_init(&facts, &world->arena);
    in.now_ms = world->now_ms;
    in.actor = "user:prop";
    in.cause = "";
    if (core_decide(copy, &in, &facts) != VERDICT_OK) {
        return false;
    }
    for (size_t i = 0; i < facts.count; i++) {
        core_apply(copy, &facts.at[i]);
    }
    return facts.count > 0;
}

/* Does the task start, at this very moment, when it asks for this? */
static bool starts_with(struct world *world, const struct task *task, const struct task_spec *asks)
{
    struct core *copy = core_copy(world->core);
    const struct task_edit edit = {.fields = EDIT_RESOURCES, .asks = asks};
    struct input in = {.type = INPUT_TASK_EDIT};
    in.task.task = task->id;
    in.task.edit = &edit;
    struct input pass = {.type = INPUT_PASS};
    pass.pass.pool = task->pool;
    pass.pass.work_max = UINT64_MAX;
    bool going = copy_step(world, copy, in);
    while (going && core_task(copy, task->id)->active_count == 0) {
        going = copy_step(world, copy, pass);
    }
    const bool started = core_task(copy, task->id)->active_count > 0;
    core_free(copy);
    return started;
}

static void wait_check(struct world *world, const struct task *task)
{
    struct explanation why;
    struct task_spec spec;
    explain_task(world->core, task->id, &why);
    if (why.reason.smallest <= 0 || why.reason.code >= REASON_UNKNOWN_POOL) {
        return; /* what no node holds any more is told what submission would accept */
    }
    core_task_spec(world->core, task->id, &world->arena, &spec);
    spec.avoid_count = 0; /* no amount: stays as it is */
    int64_t *amount = spec_amount(world, &spec, &why.reason);
    if (amount == NULL) {
        return;
    }
    const int64_t asked = *amount;
    const int64_t step = amount == &spec.slots_milli && asked >= SLOT_MILLI ? SLOT_MILLI : 1;
    law(why.reason.smallest < asked, "P8: what would help is a smaller amount");
    *amount = why.reason.smallest;
    law(starts_with(world, task, &spec), "P8: with what would help the task starts");
    /* Where others may be moved or told to leave, more may find room, too. */
    *amount = why.reason.smallest + step;
    law(*amount == asked || !core_pool(world->core, task->pool)->preemption_off ||
            !starts_with(world, task, &spec),
        "P8: the change is the smallest");
}

void waits_check(struct world *world, pool_id pool)
{
    for (const struct task *task = core_task_next(world->core, (task_id){0}); task != NULL;
         task = core_task_next(world->core, task->id)) {
        const bool can_change = task->queued && task->active_count == 0 && task->claimed_count == 0;
        if (task->pool.v == pool.v && can_change && !task->gang) {
            wait_check(world, task);
        }
    }
}
