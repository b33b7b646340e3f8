/* consolidate.c - running tasks move so that a waiting task fits. Every moved task gets its new place in the same decision.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core/sched/take/consolidate.h"

#include "base/must.h"
#include "core/model/vector.h"
#include "core/sched/keep/budget.h"
#include "core/sched/order/queue.h"
#include "core/sched/take/solve.h"
#include "core/sched/take/victims.h"
#include "core/state/query.h"

bool consolidate_may(const struct action *action, const struct claimant *claimant,
                     const struct task *task)
{
    const int64_t wanted = claimant->request.at[DIM_SLOTS];
    const bool devices = query_task_shape(action->trial->core, task->shape)->request.needs_gpu;
    return action->pool->consolidation_max > 0 && task->preemptible && (wanted > 0 || devices) &&
           wanted <= solve_idle_milli(action->solve) &&
           (budget_affords(action->trial, 0, false) || action_guaranteed(claimant));
}

enum chunk_result consolidate_try(struct action *action, const struct chunk *chunk)
{
    const struct claimant claimant = action_claimant(action, chunk);
    if (!consolidate_may(action, &claimant, chunk->task)) {
        return CHUNK_FAILED;
    }
    const struct solve_ask ask = {
        .of = VICTIMS_OF_ALL,
        .claimant = claimant,
        .task = chunk->task,
        .indices = chunk->indices,
        .count = chunk->count,
        .passes = chunk->passes,
        .moved_max = action->pool->consolidation_max,
    };
    struct shape_note *note = chunk->note;
    must(note->shape.v == chunk->task->shape.v);
    const bool speaks = action_shape_speaks(action, chunk->task);
    if (speaks && chunk->passes == 0 && note->unmoved_from > 0 &&
        chunk->count >= note->unmoved_from) {
        return CHUNK_FAILED;
    }
    const enum chunk_result result = action_solve(action, &ask, CONSOLIDATE_WORK_MAX);
    if (speaks) {
        note->unmoved_from = result == CHUNK_FAILED ? chunk->count : 0;
    }
    return result;
}
