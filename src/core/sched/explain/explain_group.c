/* explain_group.c - which tasks wait for the same reason.
 *
 * An explanation costs a look at all nodes. Long queues mostly have tasks with equal requests, so a list of tasks computes one
 * explanation for each group of equal tasks.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/must.h"
#include "core/model/oindex.h"
#include "core/model/pool.h"
#include "core/model/task.h"
#include "core/sched/explain/explain.h"
#include "core/sched/keep/rights.h"
#include "core/state/key.h"
#include "core/state/query.h"
#include "core/state/state.h"

bool explain_group(const struct core *core, const struct task *task, struct explain_group *ret)
{
    const struct pool *pool = query_pool(core, task->pool);
    *ret = (struct explain_group){.shape = task->shape,
                                  .account = task->account,
                                  .user = task->user,
                                  .priority = task->priority,
                                  .preemptible = task->preemptible != 0};
    if (pool == NULL || !task->queued || task->claimed_count > 0 || task->active_count > 0 ||
        task->reserved || task->preemption_delay_ms != PREEMPTION_DELAY_POOL ||
        pool->preemption_delay_ms > 0) {
        return false;
    }
    const struct okey key = key_account_queue(task);
    for (uint32_t i = 0; i < pool->reserved_count; i++) {
        const struct task *holder = query_task_in(core, pool->id, pool->reserved[i].task);
        must(holder != NULL);
        ret->ahead |= (uint32_t)rights_ahead(pool, holder, &key) << i;
    }
    return true;
}
