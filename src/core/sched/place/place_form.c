/* place_form.c - the nodeset of a trial: every place that arrange() tries is a start or a claim of the trial.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core/sched/place/place_form.h"

#include "base/arena.h"
#include "base/must.h"
#include "core/model/fit.h"
#include "core/model/form.h"
#include "core/model/limits.h"
#include "core/model/shape.h"
#include "core/model/space.h"
#include "core/model/vector.h"
#include "core/sched/order/form_chunk.h"
#include "core/sched/order/view.h"
#include "core/sched/place/nodeset.h"
#include "core/sched/place/place.h"
#include "core/sched/place/score.h"
#include "core/sched/place/search.h"
#include "core/state/query.h"
#include "core/state/state.h"

/* A nodeset whose nodes are those of a trial. */
struct trial_nodeset {
    struct nodeset nodeset;
    struct trial *trial;
    struct asker *askers[TASK_GROUPS_MAX + 1]; /* by leaf; NULL: not needed yet */
    const struct asker *like;                  /* the asker of the task, copied for each leaf */
    struct vector left;                        /* what the task's accounts may still take */
    uint32_t even;                             /* as in struct asker, with `whole` */
    struct vector whole;
    struct vector *lefts; /* `left` before each instance that was placed here */
};

static struct trial_nodeset *nodeset_of(struct nodeset *nodeset)
{
    return (struct trial_nodeset *)nodeset;
}

/* The asker for instances of a leaf, with the current `left`. */
static struct asker *asker_of(struct trial_nodeset *own, uint32_t leaf)
{
    must(leaf <= TASK_GROUPS_MAX);
    if (own->askers[leaf] == NULL) {
        const struct form *form = own->nodeset.form;
        struct asker *asker = arena_new(own->nodeset.arena, struct asker, 1);
        *asker = *own->like;
        asker->trail = NULL;
        if (form_grouped(form)) {
            asker->request = &form->groups[leaf].request;
        }
        own->askers[leaf] = asker;
    }
    own->askers[leaf]->left = own->left;
    own->askers[leaf]->even = own->even;
    own->askers[leaf]->whole = own->whole;
    return own->askers[leaf];
}

static uint32_t trial_takes(struct nodeset *nodeset, uint32_t leaf, const struct node *node,
                            uint32_t max)
{
    struct trial_nodeset *own = nodeset_of(nodeset);
    const struct asker *asker = asker_of(own, leaf);
    const struct overlay *overlay = &own->trial->overlay;
    struct space_room room;
    struct space place;
    must(node->pool.v == overlay->pool.v);
    ++*overlay->visited;
    if (!fit_usable(node)) {
        return 0;
    }
    overlay_place(overlay, node, asker, &room, &place);
    return search_within(node, asker, fit_count(&place, asker->request, max));
}

static int64_t trial_order(struct nodeset *nodeset, uint32_t leaf, const struct node *node)
{
    struct trial_nodeset *own = nodeset_of(nodeset);
    const struct asker *asker = asker_of(own, leaf);
    const struct spot *spot = overlay_find(&own->trial->overlay, node->id);
    struct space now;
    space_now(node, &now);
    return score_free(spot != NULL ? overlay_space(spot, asker->view) : &now,
                      score_resource(asker->request));
}

static void left_take(struct trial_nodeset *own, const struct vector *amounts)
{
    own->lefts[own->nodeset.placed_count] = own->left;
    for (uint32_t dim = 0; own->like->bounded && dim < QUOTA_DIMS_MAX; dim++) {
        if (own->left.at[dim] != VECTOR_UNLIMITED) {
            own->left.at[dim] -= amounts->at[dim];
        }
    }
}

static void trial_take(struct nodeset *nodeset, uint32_t leaf, const struct node *node,
                       uint32_t index)
{
    struct trial_nodeset *own = nodeset_of(nodeset);
    trial_place(own->trial, asker_of(own, leaf), node, index);
    left_take(own, &own->trial->decisions[own->trial->count - 1].amounts);
    nodeset_placed(nodeset, node, index);
}

static void trial_undo(struct nodeset *nodeset)
{
    struct trial_nodeset *own = nodeset_of(nodeset);
    trial_rollback(own->trial, trial_mark(own->trial) - 1);
    (void)nodeset_taken_back(nodeset);
    own->left = own->lefts[nodeset->placed_count];
}

static bool trial_anywhere(struct nodeset *nodeset, uint32_t leaf, const uint32_t *indices,
                           uint32_t count)
{
    struct trial_nodeset *own = nodeset_of(nodeset);
    struct trial *trial = own->trial;
    const struct node **places = arena_new(nodeset->arena, const struct node *, count);
    const size_t mark = trial_mark(trial);
    if (!place_alike(trial, asker_of(own, leaf), indices, count, places)) {
        return false;
    }
    must(trial_mark(trial) == mark + count);
    for (uint32_t i = 0; i < count; i++) {
        left_take(own, &trial->decisions[mark + i].amounts);
        nodeset_placed(nodeset, places[i], indices[i]);
    }
    return true;
}

static bool trial_even(struct nodeset *nodeset, uint32_t count)
{
    struct trial_nodeset *own = nodeset_of(nodeset);
    own->even = own->like->bounded ? count : 0;
    own->whole = own->left;
    return own->even > 0;
}

static const struct nodeset_ops trial_ops = {.takes = trial_takes,
                                             .order = trial_order,
                                             .take = trial_take,
                                             .undo = trial_undo,
                                             .anywhere = trial_anywhere,
                                             .even = trial_even};

const struct node **place_form_known(const struct trial *trial, const struct task *task)
{
    const struct node **at = form_chunk_at(trial->core, task, trial->arena);
    for (size_t i = 0; i < trial->count; i++) {
        const struct decision *decision = &trial->decisions[i];
        if (decision->task == task) {
            must(decision->index < task->instance_count);
            const bool goes = decision->kind == DECISION_START || decision->kind == DECISION_CLAIM;
            at[decision->index] = goes ? decision->node : NULL;
        }
    }
    return at;
}

static struct trial_nodeset *nodeset_new(struct trial *trial, struct asker *asker, uint32_t count)
{
    const struct core *core = trial->core;
    struct trial_nodeset *own = arena_new(trial->arena, struct trial_nodeset, 1);
    own->nodeset = (struct nodeset){
        .ops = &trial_ops,
        .core = core,
        .pool = query_pool(core, trial->pool),
        .form = shape_form(query_task_shape(core, asker->task->shape)),
        .arena = trial->arena,
        .spread = trial->overlay.spread,
        .at = place_form_known(trial, asker->task),
        .placed = arena_new(trial->arena, uint32_t, count),
    };
    must(own->nodeset.form != NULL);
    own->trial = trial;
    own->like = asker;
    own->left = asker->left;
    own->lefts = arena_new(trial->arena, struct vector, count);
    if (asker->view == VIEW_LATER) {
        overlay_leaving(&trial->overlay);
    }
    return own;
}

enum arrange_result place_form(struct trial *trial, struct asker *asker, const uint32_t *indices,
                               uint32_t count, const struct node **places)
{
    struct trial_nodeset *own = nodeset_new(trial, asker, count);
    const enum arrange_result result = arrange(&own->nodeset, indices, count);
    for (uint32_t i = 0; i < count && result == ARRANGE_DONE; i++) {
        places[i] = own->nodeset.at[indices[i]];
        must(places[i] != NULL);
    }
    if (result == ARRANGE_DONE) {
        asker->left = own->left;
    }
    asker->unproven |= result == ARRANGE_NOT_FOUND;
    return result;
}

uint32_t place_form_closest(struct trial *trial, struct asker *asker, uint32_t group,
                            const uint32_t *indices, uint32_t count, domain_id *ret)
{
    return arrange_closest(&nodeset_new(trial, asker, count)->nodeset, group, indices, count, ret);
}
