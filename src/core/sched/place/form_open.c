/* form_open.c - bounds of accounts and users for the next instances of a gang with a form.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core/sched/place/form_open.h"

#include "base/must.h"
#include "core/model/fit.h"
#include "core/model/form.h"
#include "core/model/node.h"
#include "core/model/shape.h"
#include "core/model/space.h"
#include "core/model/vector.h"
#include "core/sched/order/form_chunk.h"
#include "core/sched/order/gates.h"
#include "core/sched/order/tally.h"
#include "core/sched/order/view.h"
#include "core/sched/place/overlay.h"
#include "core/sched/place/search.h"
#include "core/state/query.h"
#include "core/state/state.h"

bool form_open_bound(const struct trial *trial, const struct asker *asker, uint32_t count)
{
    if (!asker->bounded) {
        return true;
    }
    must(count > 0);
    node_id after = {0};
    const struct node *node;
    while ((node = query_pool_node_next(trial->core, trial->pool, after)) != NULL) {
        after = node->id;
        struct space_room room;
        struct space empty;
        space_empty(node, &room, &empty);
        if (fit_usable(node) && fit_count(&empty, asker->request, 1) == 1 &&
            search_within(node, asker, count) == count) {
            return true;
        }
    }
    return false;
}

bool form_open(const struct trial *trial, const struct task *task, const uint32_t *indices,
               uint32_t count)
{
    must(count > 0);
    const struct core *core = trial->core;
    struct vector amounts;
    form_chunk_amounts(core, task, indices, count, SLOTS_LEAST, &amounts);
    if (tally_gate(&trial->tally, task, VIEW_NOW, &amounts).gate != GATE_OPEN ||
        tally_user_capped(&trial->tally, task, VIEW_NOW, &amounts)) {
        return false;
    }
    struct asker asker = {.task = task, .request = query_task_request(core, task, indices[0])};
    asker.bounded = tally_left(&trial->tally, task, VIEW_NOW, &asker.left);
    const bool grouped = form_grouped(shape_form(query_task_shape(core, task->shape)));
    return form_open_bound(trial, &asker, grouped ? 1 : count);
}
