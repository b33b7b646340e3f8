/* claims.c - from promised places to starts.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core/sched/place/claims.h"

#include "base/arena.h"
#include "core/model/fit.h"
#include "core/model/node.h"
#include "core/model/oindex.h"
#include "core/model/resource.h"
#include "core/model/space.h"
#include "core/model/task.h"
#include "core/model/vector.h"
#include "core/sched/order/gates.h"
#include "core/sched/order/tally.h"
#include "core/sched/order/view.h"
#include "core/sched/place/overlay.h"
#include "core/state/key.h"
#include "core/state/query.h"
#include "core/state/state.h"

/* The next promised instance of a task from `index` on; instance_count: none. */
static uint32_t claimed_from(const struct core *core, const struct task *task, uint32_t index)
{
    while (index < task->instance_count && query_instance_claim(core, task->id, index) == NULL) {
        index++;
    }
    return index;
}

/* Who asks for one instance; `before` did for another one of the same task, or is NULL. */
static const struct asker *asker_for(struct trial *trial, const struct task *task, uint32_t index,
                                     const struct asker *before)
{
    const struct request *request = query_task_request(trial->core, task, index);
    if (before != NULL && before->request == request) {
        return before;
    }
    struct asker *asker = arena_new(trial->arena, struct asker, 1);
    *asker = (struct asker){.task = task, .request = request, .end_ms = INT64_MAX};
    return asker;
}

static bool start_there(struct trial *trial, const struct asker *asker, uint32_t index)
{
    const struct node *node =
        query_node(trial->core, query_instance_claim(trial->core, asker->task->id, index)->node);
    struct space_room room;
    struct space place;
    overlay_place(&trial->overlay, node, asker, &room, &place);
    if (fit_count(&place, asker->request, 1) == 0) {
        return false;
    }
    trial_place(trial, asker, node, index);
    return true;
}

/* `count` promised instances of a task from `index` on: all start, or all go on waiting, or all are given up. */
static uint32_t claims_try(struct trial *trial, const struct task *task, uint32_t index,
                           uint32_t count, bool *given_up)
{
    const struct core *core = trial->core;
    const size_t mark = trial_mark(trial);
    const struct asker *asker = NULL;
    struct vector amounts = {{0}};
    uint32_t at = index;
    for (uint32_t i = 0; i < count; i++, at++) {
        at = claimed_from(core, task, at);
        trial_unclaim(trial, task, at, true);
        vector_add(&amounts, &trial->decisions[trial->count - 1].amounts);
    }
    if (tally_gate(&trial->tally, task, VIEW_LATER, &amounts).gate != GATE_OPEN ||
        tally_user_capped(&trial->tally, task, VIEW_LATER, &amounts)) {
        for (size_t i = mark; i < trial->count; i++) {
            trial->decisions[i].moved = false;
        }
        *given_up = true;
        return 0;
    }
    bool fits = tally_gate(&trial->tally, task, VIEW_NOW, &amounts).gate == GATE_OPEN &&
                !tally_user_capped(&trial->tally, task, VIEW_NOW, &amounts);
    at = index;
    for (uint32_t i = 0; i < count && fits; i++, at++) {
        at = claimed_from(core, task, at);
        asker = asker_for(trial, task, at, asker);
        fits = start_there(trial, asker, at);
    }
    if (!fits) {
        trial_rollback(trial, mark);
        return 0;
    }
    return count;
}

uint32_t claims_start(struct trial *trial, bool *ret_given_up)
{
    const struct core *core = trial->core;
    uint32_t starts = 0;
    *ret_given_up = false;
    struct okey at = {{trial->pool.v, 0, 0, 0}};
    while (core->claims.count > 0 && oindex_next(&core->orders[ORDER_NODE_CHANGING], at, &at) &&
           at.at[0] == trial->pool.v) {
        struct okey key = {{at.at[1], 0, 0, 0}};
        while (oindex_next(&core->orders[ORDER_CLAIM], key, &key) && key.at[0] == at.at[1]) {
            const struct task *task = query_task(core, (task_id){key.at[1]});
            const uint32_t index = (uint32_t)key.at[2];
            if (!task->queued || query_instance(core, task->id, index)->state != INSTANCE_WAITING) {
                continue; /* it is still leaving the place it had */
            }
            if (!task->gang) {
                starts += claims_try(trial, task, index, 1, ret_given_up);
            } else if (index == claimed_from(core, task, task->waiting_from)) {
                starts += claims_try(trial, task, index, task->claimed_count, ret_given_up);
            }
        }
    }
    return starts;
}
