/* explain_rollout.c - see explain_rollout.h. SPDX-License-Identifier: Apache-2.0 */
#include "core/sched/explain/explain_rollout.h"

#include "base/must.h"
#include "base/str.h"
#include "core/model/names.h"
#include "core/model/rollout.h"
#include "core/model/task.h"
#include "core/state/query.h"

void explain_rollout(const struct core *core, const struct task *task, struct reason *ret)
{
    const struct rollout *rollout = query_task_rollout(core, task->rollout);
    must(rollout != NULL);
    const bool stopped = rollout->phase == ROLLOUT_STOPPED;
    if (!stopped && task->active_count > 0) {
        return;
    }
    ret->code = stopped ? REASON_ROLLOUT_STOPPED : REASON_ROLLOUT_TURN;
    ret->pool = task->pool;
    ret->task = rollout->from.v == task->id.v ? rollout->to : rollout->from;
    if (stopped) {
        (void)str_copy(ret->text, sizeof ret->text,
                       names_rollout_why((enum rollout_why)rollout->why));
    }
    ret->running = task->active_count;
    ret->all = task->active_count > 0 ? task->instance_count : 0;
}
