/* place.c - nodes for the next instances of a task.
 *
 * Packed: the fullest node that takes all that are left, else the fullest of those that take most. Spread: one by one. With equal
 * instances either finds places for all wherever there are enough: no instance takes more from a node than another would.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core/sched/place.h"

#include "base/must.h"
#include "core/core_internal.h"
#include "core/sched/search.h"

uint32_t place_waiting(const struct core *core, const struct task *task, uint32_t index)
{
    uint32_t at = index;
    while (at < task->instance_count &&
           (core_instance(core, task->id, at)->state != INSTANCE_WAITING ||
            core_claim(core, task->id, at) != NULL)) {
        at++;
    }
    return at;
}

static const struct node *next_node(struct overlay *overlay, const struct asker *asker,
                                    uint32_t left, uint32_t *ret_count)
{
    const uint32_t first = overlay->spread ? 1 : left;
    const struct node *node = search_first(overlay, asker, first);
    *ret_count = first;
    if (node != NULL || first == 1) {
        return node;
    }
    *ret_count = search_most(overlay, asker, left);
    return *ret_count == 0 ? NULL : search_first(overlay, asker, *ret_count);
}

/* What the accounts may still take of cpu and memory, less what the instance was given. */
static void left_take(struct asker *asker, const struct decision *decision)
{
    for (uint32_t dim = 0; asker->bounded && dim < QUOTA_DIMS_MAX; dim++) {
        if (asker->left.at[dim] != VECTOR_UNLIMITED) {
            asker->left.at[dim] -= decision->amounts.at[dim];
        }
    }
}

bool place_these(struct trial *trial, struct asker *asker, const uint32_t *indices, uint32_t count,
                 const struct node **places)
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
            if (asker->trail != NULL && placed > 0) {
                asker->trail->valid = false; /* what was taken back is free again */
            }
            return false;
        }
        for (uint32_t i = 0; i < here; i++, placed++) {
            trial_place(trial, asker, node, indices[placed]);
            left_take(asker, &trial->decisions[trial->count - 1]);
            places[placed] = node;
        }
    }
    return true;
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
