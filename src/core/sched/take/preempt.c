/* preempt.c - a task takes the places of tasks of lower priority.
 *
 * Surprising: no rule of fairness is asked. Inside a project the places stay with the project; under policy `priority` the
 * priority alone counts, and of one priority the place in the queue of a running task that the user put behind another task.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core/sched/take/preempt.h"

#include "base/must.h"
#include "core/model/oindex.h"
#include "core/model/spec.h"
#include "core/model/task.h"
#include "core/sched/order/gates.h"
#include "core/sched/take/solve.h"
#include "core/sched/take/victims.h"
#include "core/state/key.h"

/* The lowest priority of a running instance of the task's project; UINT32_MAX: none runs. */
static uint32_t lowest_running(const struct action *action, const struct task *task)
{
    struct okey key = {{ACCOUNT_KEY(task->pool, task->account), 0, 0, 0}};
    const uint64_t first = key.at[0];
    const bool runs = oindex_from(&action->trial->core->orders[ORDER_ACCOUNT_LOSS], key, &key) &&
                      key.at[0] == first;
    return runs ? (uint32_t)(key.at[1] >> 32) : UINT32_MAX;
}

bool preempt_lower(const struct action *action, const struct account_view *account,
                   const struct task *task)
{
    struct account_order_kept *keys = action->trial->tally.shares->keys;
    if (keys == NULL) {
        return lowest_running(action, task) < task->priority;
    }
    struct account_order_kept *kept = &keys[account->index];
    if (!kept->lowest_known || kept->lowest_at != account->changes) {
        kept->lowest_known = true;
        kept->lowest_at = account->changes;
        kept->lowest = lowest_running(action, task);
    }
    return kept->lowest < task->priority;
}

enum chunk_result preempt_try(struct action *action, const struct chunk *chunk)
{
    const bool pool_wide = action->pool->policy == POLICY_PRIORITY;
    must(pool_wide || action->pool->policy == POLICY_FAIR_SHARE); /* as action_any() has it */
    const struct solve_ask ask = {
        .of = pool_wide ? VICTIMS_OF_LOWER : VICTIMS_OF_OWN,
        .claimant = action_claimant(action, chunk),
        .task = chunk->task,
        .indices = chunk->indices,
        .count = chunk->count,
        .passes = chunk->passes,
    };
    if (!pool_wide && !preempt_lower(action, ask.claimant.account, chunk->task)) {
        return CHUNK_FAILED;
    }
    if (!chunk->task->preemptible &&
        gates_guarantee(ask.claimant.pool, ask.claimant.account, &chunk->amounts).gate !=
            GATE_OPEN) {
        return CHUNK_FAILED;
    }
    return action_solve(action, &ask, CLAIMANT_WORK_MAX);
}
