/* place.c - nodes for the next instances of a task.
 *
 * Placements `pack` and `tight` look for the best node that takes all instances that are left, else for the best of the nodes that take
 * most. Placement `spread` places one instance after the other. With equal instances each way finds places for all wherever there are
 * enough, because every instance takes the same amounts from a node.
 *
 * A wide task is divided over several nodes (request.wide is WIDE_PARTS). The instances of a wide task talk to each other, so every placement packs them.
 * If idle nodes of one size hold the instances exactly, the task takes these nodes, the largest size first. Then all parts are equal,
 * and nothing is left over on the nodes. The parts of a task that was divided into whole nodes (WIDE_NODES) need nothing of this:
 * fit_count() gives each of them an idle node of its size, or none.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core/sched/place/place.h"

#include "base/arena.h"
#include "base/must.h"
#include "core/model/resource.h"
#include "core/model/vector.h"
#include "core/sched/place/arrange.h"
#include "core/sched/place/place_form.h"
#include "core/sched/place/search.h"
#include "core/state/query.h"

uint32_t place_waiting(const struct core *core, const struct task *task, uint32_t index)
{
    must(task->claimed_count <= task->waiting_count);
    uint32_t at = index;
    if (task->waiting_count == task->instance_count && task->claimed_count == 0) {
        return at; /* every instance waits and has no claim */
    }
    while (at < task->instance_count &&
           (query_instance(core, task->id, at)->state != INSTANCE_WAITING ||
            query_instance_claim(core, task->id, at) != NULL)) {
        at++;
    }
    return at;
}

static const struct node *next_node(struct overlay *overlay, const struct asker *asker,
                                    uint32_t left, uint32_t *ret_count)
{
    const uint32_t first = overlay->spread && asker->request->wide == WIDE_NOT ? 1 : left;
    const struct node *node = search_first(overlay, asker, first);
    *ret_count = first;
    if (node != NULL || first == 1) {
        return node;
    }
    *ret_count = search_most(overlay, asker, left);
    return *ret_count == 0 ? NULL : search_first(overlay, asker, *ret_count);
}

/* Subtracts what an instance got from the amounts that the asker's accounts may still take. */
static void left_take(struct asker *asker, const struct decision *decision)
{
    for (uint32_t dim = 0; asker->bounded && dim < QUOTA_DIMS_MAX; dim++) {
        if (asker->left.at[dim] != VECTOR_UNLIMITED) {
            asker->left.at[dim] -= decision->amounts.at[dim];
        }
    }
}

/* Finds `count` idle nodes of exactly `each` slots. False: there are not enough such nodes. */
static bool equal_nodes(struct overlay *overlay, const struct asker *asker, uint32_t each,
                        uint32_t count, const struct node **ret)
{
    must(each > 0);
    const int64_t free = (int64_t)each * SLOT_MILLI;
    node_id after = {0};
    for (uint32_t found = 0; found < count;) {
        const struct node *node = search_level(overlay, asker, free, after, each);
        if (node == NULL) {
            return false;
        }
        if (node->slots_milli == free) {
            ret[found++] = node;
        }
        after = node->id;
    }
    return true;
}

/* Places all instances of a wide task on idle nodes of one size that they fill. False: there are no such nodes, or the accounts' bounds
 * on cpu or memory apply, which this function does not count. */
static bool place_equal(struct trial *trial, struct asker *asker, const uint32_t *indices,
                        uint32_t count, const struct node **places)
{
    if (asker->request->wide != WIDE_PARTS || asker->bounded) {
        return false;
    }
    const struct node **nodes = arena_new(trial->arena, const struct node *, count);
    for (uint32_t each = search_most(&trial->overlay, asker, count); each > 0; each--) {
        if (count % each != 0 || !equal_nodes(&trial->overlay, asker, each, count / each, nodes)) {
            continue;
        }
        must(each <= count);
        for (uint32_t i = 0; i < count; i++) {
            places[i] = nodes[i / each];
            trial_place(trial, asker, places[i], indices[i]);
        }
        return true;
    }
    return false;
}

/* Places the instances node by node. False: not all found places, and none has one; `*ret_some` says whether some had found a place. */
static bool place_greedy(struct trial *trial, struct asker *asker, const uint32_t *indices,
                         uint32_t count, const struct node **places, bool *ret_some)
{
    const size_t mark = trial_mark(trial);
    const struct vector left = asker->left;
    uint32_t placed = 0;
    while (placed < count) {
        uint32_t here = 0;
        const struct node *node = next_node(&trial->overlay, asker, count - placed, &here);
        if (node == NULL) {
            trial_rollback(trial, mark);
            asker->left = left;
            *ret_some = placed > 0;
            if (asker->trail != NULL && placed > 0) {
                asker->trail->valid =
                    false; /* the rollback made nodes before the trail's end free again */
            }
            return false;
        }
        must(here > 0);
        must(here <= count - placed);
        for (uint32_t i = 0; i < here; i++, placed++) {
            trial_place(trial, asker, node, indices[placed]);
            left_take(asker, &trial->decisions[trial->count - 1]);
            places[placed] = node;
        }
    }
    return true;
}

bool place_alike(struct trial *trial, struct asker *asker, const uint32_t *indices, uint32_t count,
                 const struct node **places)
{
    bool some = false;
    if (place_equal(trial, asker, indices, count, places) ||
        place_greedy(trial, asker, indices, count, places, &some)) {
        return true;
    }
    if (!asker->bounded || !some) {
        return false;
    }
    /* The first nodes may have taken more cpu or memory with the slots than the other instances could spare. */
    asker->even = count;
    asker->whole = asker->left;
    const bool placed = place_greedy(trial, asker, indices, count, places, &some);
    asker->even = 0;
    return placed;
}

bool place_these(struct trial *trial, struct asker *asker, const uint32_t *indices, uint32_t count,
                 const struct node **places)
{
    return query_task_shape(trial->core, asker->task->shape)->form == NULL
               ? place_alike(trial, asker, indices, count, places)
               : place_form(trial, asker, indices, count, places) == ARRANGE_DONE;
}

bool place_chunk(struct trial *trial, struct asker *asker, uint32_t count, uint32_t *index)
{
    const struct task *task = asker->task;
    const struct node *place_one;
    const struct node **places =
        count == 1 ? &place_one : arena_new(trial->arena, const struct node *, count);
    uint32_t one;
    uint32_t *indices = count == 1 ? &one : arena_new(trial->arena, uint32_t, count);
    uint32_t at = *index;
    for (uint32_t i = 0; i < count; i++, at++) {
        at = place_waiting(trial->core, task, at);
        must(at < task->instance_count);
        indices[i] = at;
    }
    if (!place_these(trial, asker, indices, count, places)) {
        return false;
    }
    *index = at;
    return true;
}
