/* pass_form.c - the turn of a gang with topology or groups.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/must.h"
#include "core/model/form.h"
#include "core/model/node.h"
#include "core/sched/keep/rights.h"
#include "core/sched/order/form_chunk.h"
#include "core/sched/order/tally.h"
#include "core/sched/order/view.h"
#include "core/sched/pass_internal.h"
#include "core/sched/place/form_open.h"
#include "core/sched/place/place.h"
#include "core/sched/place/place_form.h"
#include "core/state/capacity.h"
#include "core/state/query.h"

bool pass_form_speaks(const struct shape *shape, const struct task *task, const struct lane *lane)
{
    return shape->form == NULL ||
           (task->active_count == 0 && task->claimed_count == 0 && lane->added == 0);
}

/* Places these instances together, or says why they have no places. */
static enum outcome form_place(struct pass *pass, const struct task *task, struct lane *lane,
                               const uint32_t *indices, uint32_t count)
{
    struct vector amounts;
    const struct shape *shape = query_task_shape(pass->core, task->shape);
    must(count > 0);
    must(count <= task->instance_count);
    const uint32_t least = form_grouped(shape_form(shape)) ? 1 : count;
    form_chunk_amounts(pass->core, task, indices, count, SLOTS_LEAST, &amounts);
    const enum outcome bounds = pass_bounds(pass, task, lane, &amounts);
    if (bounds != OUTCOME_PLACED) {
        return bounds;
    }
    const uint32_t passes = rights_all(&pass->trial, task, &lane->key, &amounts);
    /* A remembered miss may mean that there is room, only not close together. Such a gang's turn is the moment from which places are
     * kept. So the miss is used only after the places are kept: the cache must not move that moment (P12). */
    const bool remembered =
        pass->hold.kept == pass->hold.count && pass_remembers(pass, shape, shape->gang_size);
    const bool noted = lane->note->missed_from > 0 && passes == 0 && !task->reserved;
    const bool missed = pass_form_speaks(shape, task, lane) && (noted || remembered);
    struct asker *asker = arena_new(pass->arena, struct asker, 1);
    *asker = (struct asker){.task = task,
                            .request = query_task_request(pass->core, task, indices[0]),
                            .end_ms = overlay_end_ms(task, pass->in->now_ms)};
    asker->passes = passes;
    asker->bounded = tally_left(&pass->trial.tally, task, VIEW_NOW, &asker->left);
    lane->bounded = asker->bounded;
    const struct node **to = arena_new(pass->arena, const struct node *, count);
    if (missed || !pass_keep_or_blocked(pass, asker, least) ||
        !place_these(&pass->trial, asker, indices, count, to)) {
        lane->note->unproven |= asker->unproven;
        pass_denied(pass, asker, least);
        return form_open_bound(&pass->trial, asker, least) ? OUTCOME_BLOCKED
                                                           : pass_outcome_bound(pass, task);
    }
    lane->added += count;
    pass->placed += count;
    pass->work += count;
    return OUTCOME_PLACED;
}

enum outcome pass_form_place(struct pass *pass, const struct task *task, struct lane *lane)
{
    must(query_task_shape(pass->core, task->shape)->form != NULL);
    const bool speaks = pass_form_speaks(query_task_shape(pass->core, task->shape), task, lane);
    uint32_t *indices = arena_new(pass->arena, uint32_t, task->instance_count);
    const struct node **at = place_form_known(&pass->trial, task);
    enum outcome outcome = OUTCOME_BLOCKED;
    uint32_t count = form_chunk(pass->core, task, at, 0, indices);
    for (uint32_t choice = 0; count > 0;
         count = form_chunk(pass->core, task, at, ++choice, indices)) {
        const enum outcome one = form_place(pass, task, lane, indices, count);
        if (one == OUTCOME_PLACED) {
            return one;
        }
        outcome = choice == 0 || one == OUTCOME_BLOCKED ? one : outcome;
    }
    /* A limit forbids the next instances of this gang. Where some instances of this gang run already, an equal gang asks for other
     * instances, which the limit may allow: so the lane goes on with the next task. */
    return outcome == OUTCOME_GATED && !speaks ? OUTCOME_CAPPED : outcome;
}
