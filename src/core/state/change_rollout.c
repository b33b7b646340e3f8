/* change_rollout.c - the rows of rollouts, and the instances that rollouts hold back.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/must.h"
#include "core/model/oindex.h"
#include "core/model/rollout.h"
#include "core/model/table.h"
#include "core/model/task.h"
#include "core/state/change.h"
#include "core/state/fact.h"
#include "core/state/key.h"
#include "core/state/query.h"
#include "core/state/state.h"

/* Says that the task is a part of the rollout, unless the task has left the state. */
static void part_set(struct core *core, task_id id, task_id rollout)
{
    if (query_task(core, id) != NULL) {
        struct task_mark mark;
        struct task *task = change_task_open(core, id, &mark);
        task->rollout = rollout;
        change_task_close(core, task, &mark);
    }
}

/* A submitted task begins to take the place of another task: the first of all those tasks is its origin. */
static void origin_set(struct core *core, const struct rollout *row)
{
    const task_id before = query_task(core, row->from)->origin;
    struct task_mark mark;
    struct task *task = change_task_open(core, row->to, &mark);
    task->origin = before.v != 0 ? before : row->from;
    change_task_close(core, task, &mark);
}

static void deadline_set(struct core *core, task_id id, const struct rollout *before,
                         const struct rollout *after)
{
    struct oindex *order = &core->orders[ORDER_DEADLINE];
    if (before != NULL && before->until_ms != 0) {
        must(oindex_remove(order, key_rollout(before, id)));
    }
    if (after->until_ms != 0) {
        must(oindex_insert(order, key_rollout(after, id)));
    }
}

void change_rollout_put(struct core *core, task_id id, const struct rollout *row)
{
    const struct rollout *before = table_get(&core->rollouts, id.v);
    must(row->phase != ROLLOUT_OVER || row->until_ms == 0);
    deadline_set(core, id, before, row);
    if (row->phase == ROLLOUT_OVER) {
        table_remove(&core->rollouts, id.v);
        part_set(core, row->from, (task_id){0});
        part_set(core, row->to, (task_id){0});
        return;
    }
    struct rollout *to = table_edit(&core->rollouts, id.v);
    if (to == NULL) {
        to = table_put(&core->rollouts, id.v);
        part_set(core, row->from, id);
        part_set(core, row->to, id);
    }
    *to = *row;
}

void change_rollout_set(struct core *core, const struct fact *fact)
{
    if (table_get(&core->rollouts, fact->rollout.task.v) == NULL) {
        origin_set(core, &fact->rollout.row);
    }
    change_rollout_put(core, fact->rollout.task, &fact->rollout.row);
}

void change_rollout_renew(struct core *core, task_id id, int64_t now_ms)
{
    struct rollout row = *(const struct rollout *)table_get(&core->rollouts, id.v);
    row.until_ms = now_ms + (row.draining != 0 ? row.drain_ms : row.within_ms);
    change_rollout_put(core, id, &row);
}

/* Holds a waiting instance, or lets a held one wait. */
static void one_hold(struct core *core, struct task *task, uint32_t index, bool held)
{
    if (held) {
        change_claim_drop(core, task, index);
    }
    struct instance *instance = change_task_instance(core, task, index);
    must(instance->state == (held ? INSTANCE_WAITING : INSTANCE_HELD));
    instance->state = held ? INSTANCE_HELD : INSTANCE_WAITING;
    task->held_count += held ? 1U : -1U;
    task->waiting_count += held ? -1U : 1U;
}

void change_rollout_hold(struct core *core, const struct fact *fact)
{
    struct task_mark mark;
    struct task *task = change_task_open(core, fact->held.task, &mark);
    must(!task->gang);
    for (uint32_t i = 0; i < fact->held.count; i++) {
        one_hold(core, task, fact->held.first + i, fact->held.held);
    }
    change_task_waiting_from(core, task, 0);
    if (task->waiting_count == 0) {
        task->hold_until_ms = 0; /* no instance of the task waits to start again */
    }
    if (!fact->held.held) {
        task->queued_ms = fact->time_ms;
    }
    change_task_close(core, task, &mark);
}
