/* check_rollout.c - checks the rollouts and the tasks that take part in them: K22.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/must.h"
#include "core/check.h"
#include "core/model/oindex.h"
#include "core/model/rollout.h"
#include "core/model/table.h"
#include "core/model/task.h"
#include "core/state/key.h"
#include "core/state/query.h"
#include "core/state/state.h"

/* A task that has left the state is a part of no rollout; the facts of one step may come between. */
static uint32_t check_part(const struct core *core, task_id id, uint64_t rollout)
{
    const struct task *task = query_task(core, id);
    must(task == NULL || task->rollout.v == rollout);
    must(task == NULL || task->kind == TASK_SERVICE);
    return task != NULL;
}

void check_rollout(const struct core *core, uint64_t *counts)
{
    uint64_t parts = 0;
    for (uint64_t id = table_next(&core->rollouts, 0); id != 0;
         id = table_next(&core->rollouts, id)) {
        const struct rollout *row = table_get(&core->rollouts, id);
        must(row->from.v != row->to.v);
        must(row->from.v == id || row->to.v == id);
        must(row->phase == ROLLOUT_GOING || row->phase == ROLLOUT_STOPPED);
        must((row->phase == ROLLOUT_GOING) == (row->until_ms != 0));
        parts += check_part(core, row->from, id) + check_part(core, row->to, id);
        if (row->until_ms != 0) {
            must(oindex_has(&core->orders[ORDER_DEADLINE], key_rollout(row, (task_id){id})));
            counts[ORDER_DEADLINE]++;
        }
    }
    for (const struct task *task = query_task_next(core, (task_id){0}); task != NULL;
         task = query_task_next(core, task->id)) {
        must(parts > 0 || task->rollout.v == 0);
        parts -= task->rollout.v != 0;
        must(task->held_count == 0 || task->rollout.v != 0);
    }
    must(parts == 0);
}
