/* decide_tick.c - what happens when deadlines have come.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/must.h"
#include "core/decide/decide.h"
#include "core/decide/decide_leave.h"
#include "core/decide/settle.h"
#include "core/decide/step.h"
#include "core/model/claim.h"
#include "core/model/form.h"
#include "core/model/form_grow.h"
#include "core/model/instance.h"
#include "core/model/oindex.h"
#include "core/model/shape.h"
#include "core/model/table.h"
#include "core/model/task.h"
#include "core/model/verdict.h"
#include "core/state/fact.h"
#include "core/state/gang.h"
#include "core/state/key.h"
#include "core/state/query.h"
#include "core/state/state.h"

/* The most deadlines that one tick handles. The rest is due at once again. */
enum { TICK_WORK_MAX = 1000 };

static void stop_harder(struct step *step, const struct instance *instance)
{
    must(instance->state == INSTANCE_STOPPING);
    struct fact *fact = step_fact(step, FACT_ATTEMPT_STOPPING);
    fact->attempt_stopping.key =
        (struct attempt_key){instance->task, instance->index, instance->attempt};
    fact->attempt_stopping.cause = instance->cause;
    fact->attempt_stopping.deadline_ms = 0;
}

static void stale_stop(struct step *step, const struct core *core, const struct task *task,
                       uint32_t from, uint32_t to)
{
    must(to <= task->instance_count);
    for (uint32_t i = from; i < to; i++) {
        const struct instance *instance = query_instance(core, task->id, i);
        must(instance != NULL);
        if (!instance_stays(instance)) {
            continue;
        }
        struct fact *fact = step_fact(step, FACT_EVICTED);
        fact->evicted.key = (struct attempt_key){task->id, i, instance->attempt};
        fact->evicted.deadline_ms = step->in->now_ms + task->grace_ms;
        fact->evicted.why = (struct eviction){.rule = EVICT_STALE};
    }
}

/* The grace of a stale gang is over. A gang below its minimum is stopped as a whole and begins again. In a
 * gang that has its minimum only the broken groups are stopped. */
static void stale_come(struct step *step, const struct core *core, task_id id)
{
    const struct task *task = query_task(core, id);
    must(task != NULL);
    must(task->stale_ms > 0);
    if (task_gang_lacks(task)) {
        stale_stop(step, core, task, 0, task->instance_count);
        return;
    }
    const struct form *form = shape_form(query_task_shape(core, task->shape));
    must(form != NULL); /* a stale gang that has its minimum has groups */
    struct form_have have;
    struct form_have stays;
    uint32_t group = form->group_count;
    gang_have(core, task, &have, &stays);
    while ((group = form_grow_broken(form, &have, &stays, group)) < form->group_count) {
        const struct form_group *own = &form->groups[group];
        stale_stop(step, core, task, own->first, own->first + own->count);
    }
}

/* The deadline of a pool, a node or a launch has come. False: the deadline is another one. */
static bool pool_deadline_come(struct step *step, const struct core *core, struct okey key)
{
    const pool_id pool = {(uint32_t)key.at[2]};
    const node_id node = {(uint32_t)key.at[2]};
    const launch_id launch = {key.at[2]};
    switch (key.at[1]) {
    case DEADLINE_HISTORY:
        step_fact(step, FACT_HISTORY_TICKED)->history_ticked.pool = pool;
        return true;
    case DEADLINE_SHRINK:
        decide_launch_shrink(step, core, pool);
        return true;
    case DEADLINE_MOVE:
        decide_member_move(step, core, node);
        return true;
    case DEADLINE_JOIN:
        decide_launch_late(step, core, launch);
        return true;
    case DEADLINE_LIFE:
        decide_life_state(step, core, pool);
        return true;
    case DEADLINE_DELETE:
        decide_life_gone(step, core, pool);
        return true;
    case DEADLINE_LEAVE:
        decide_leave_left(step, core, launch);
        return true;
    case DEADLINE_DRAIN:
        decide_leave_late(step, core, node);
        return true;
    case DEADLINE_UNFIT:
        decide_leave_unfit(step, core, launch);
        return true;
    case DEADLINE_REPLACE:
        decide_replace_next(step, core, pool);
        return true;
    case DEADLINE_FORGET:
        decide_leave_forget(step, core, node);
        return true;
    default:
        return false;
    }
}

/* One deadline has come. Its facts remove the deadline from the order or move it, unless the step has reached
 * SETTLE_MAX. */
static void deadline_come(struct step *step, const struct core *core, struct okey key)
{
    task_id id = {key.at[2]};
    if (pool_deadline_come(step, core, key)) {
        return;
    }
    if (key.at[1] == DEADLINE_SETTLE) {
        settle_dependents(step, id);
        return;
    }
    if (key.at[1] == DEADLINE_HOLD) {
        step_fact(step, FACT_HOLD_ENDED)->task.task = id;
        return;
    }
    if (key.at[1] == DEADLINE_STALE) {
        stale_come(step, core, id);
        return;
    }
    if (key.at[1] == DEADLINE_ROLLOUT) {
        decide_rollout_late(step, id);
        return;
    }
    if (key.at[1] == DEADLINE_FALLBACK) {
        decide_fallback_waited(step, core, id);
        return;
    }
    const struct instance *instance = query_instance(core, id, (uint32_t)key.at[3]);
    must(instance != NULL);
    if (key.at[1] == DEADLINE_STOP) {
        stop_harder(step, instance);
        return;
    }
    if (query_task(core, id)->gang) {
        settle_stop(step, id, END_TIME_LIMIT, true);
        return;
    }
    struct fact *fact = step_fact(step, FACT_ATTEMPT_STOPPING);
    fact->attempt_stopping.key = (struct attempt_key){id, instance->index, instance->attempt};
    fact->attempt_stopping.cause = END_TIME_LIMIT;
    fact->attempt_stopping.deadline_ms = step->in->now_ms + query_task(core, id)->grace_ms;
}

static void keys_expire(struct step *step)
{
    const struct core *core = step->core;
    int64_t before_ms = step->in->now_ms - SUBMIT_KEY_MS + 1;
    uint32_t count = 0;
    for (uint64_t row = table_next(&core->keys, 0); row != 0; row = table_next(&core->keys, row)) {
        const struct submit_key *key = table_get(&core->keys, row);
        must(key != NULL);
        if (key->time_ms >= before_ms) {
            break;
        }
        if (++count == TICK_WORK_MAX) {
            before_ms = key->time_ms + 1;
            break;
        }
    }
    if (count > 0) {
        step_fact(step, FACT_SUBMIT_KEYS_EXPIRED)->keys_expired.before_ms = before_ms;
    }
}

enum verdict decide_tick(struct step *step)
{
    struct okey cursor = {{0}};
    for (uint32_t work = 0; work < TICK_WORK_MAX; work++) {
        const struct core *core = step_state(step);
        struct okey key;
        if (!oindex_from(&core->orders[ORDER_DEADLINE], cursor, &key) ||
            (int64_t)key.at[0] > step->in->now_ms) {
            break;
        }
        must(oindex_key_compare(key, cursor) >= 0);
        cursor = key;
        /* the key right behind; instance indices are far below the largest number */
        cursor.at[3]++;
        if (key.at[1] != DEADLINE_WAKE) {
            deadline_come(step, core, key);
        }
    }
    keys_expire(step);
    return VERDICT_OK;
}
