/* form_chunk.c - turns of a gang with a form.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core/sched/form_chunk.h"

#include "base/must.h"
#include "core/sched/turns.h"

const struct node **form_at(const struct core *core, const struct task *task, struct arena *arena)
{
    const struct node **at = arena_new(arena, const struct node *, task->instance_count);
    for (uint32_t i = 0; i < task->instance_count; i++) {
        const struct instance *instance = core_instance(core, task->id, i);
        const struct claim *claim = core_claim(core, task->id, i);
        const bool stays =
            instance->state == INSTANCE_STARTING || instance->state == INSTANCE_RUNNING;
        at[i] = claim != NULL ? core_node(core, claim->node)
                : stays       ? core_node(core, instance->node)
                              : NULL;
    }
    return at;
}

static void have_count(const struct core *core, const struct task *task, const struct form *form,
                       const struct node *const *at, struct form_counts *ret)
{
    *ret = (struct form_counts){{0}};
    for (uint32_t leaf = form_leaf_next(form, 0); leaf < form->group_count;
         leaf = form_leaf_next(form, leaf + 1)) {
        const struct form_group *own = &form->groups[leaf];
        for (uint32_t i = own->first; i < own->first + own->count; i++) {
            ret->at[leaf] +=
                at[i] != NULL || core_instance(core, task->id, i)->state == INSTANCE_ENDED;
        }
    }
}

/* In how many ways a minimum can be chosen, as far as they are tried: each group may be the first. */
static uint32_t ways_of(const struct form *form)
{
    uint32_t ways = 1;
    for (uint32_t i = 0; i < form->group_count; i++) {
        const struct form_group *group = &form->groups[i];
        if (group->below > 0 && group->min < group->below && group->below > ways) {
            ways = group->below;
        }
    }
    return ways;
}

/* Do all groups around it have what they need? Then it is in use, or could be. */
static bool around_satisfied(const struct form *form, uint32_t group,
                             const struct form_counts *have)
{
    while (group != 0) {
        group = form->groups[group].parent;
        if (!form_satisfied(form, group, have)) {
            return false;
        }
    }
    return true;
}

/* A group that is not needed comes whole: the `turn`-th of those that are not there yet. */
static bool group_turn(const struct form *form, const struct form_counts *have, uint32_t *turn,
                       struct form_counts *ret)
{
    for (uint32_t group = 1; group < form->group_count; group++) {
        if (form_satisfied(form, group, have) || !around_satisfied(form, group, have)) {
            continue;
        }
        if (*turn == 0) {
            (void)form_missing(form, group, have, 0, ret);
            return true;
        }
        --*turn;
    }
    return false;
}

/* Is the leaf in use, and not complete? */
static bool leaf_grows(const struct form *form, uint32_t leaf, const struct form_counts *have)
{
    return have->at[leaf] < form->groups[leaf].count && form_satisfied(form, leaf, have) &&
           around_satisfied(form, leaf, have);
}

static bool less_filled(const struct form *form, const struct form_counts *have, uint32_t a,
                        uint32_t b)
{
    const uint64_t part_a = (uint64_t)have->at[a] * form->groups[b].min;
    const uint64_t part_b = (uint64_t)have->at[b] * form->groups[a].min;
    return part_a != part_b ? part_a < part_b : a < b;
}

/* One more of the leaf that is the `turn`-th least filled. */
static bool leaf_turn(const struct form *form, const struct form_counts *have, uint32_t turn,
                      struct form_counts *ret)
{
    bool over[TASK_GROUPS_MAX + 1] = {false};
    for (;; turn--) {
        uint32_t least = form->group_count;
        for (uint32_t leaf = form_leaf_next(form, 0); leaf < form->group_count;
             leaf = form_leaf_next(form, leaf + 1)) {
            if (!over[leaf] && leaf_grows(form, leaf, have) &&
                (least == form->group_count || less_filled(form, have, leaf, least))) {
                least = leaf;
            }
        }
        if (least == form->group_count) {
            return false;
        }
        over[least] = true;
        if (turn == 0) {
            ret->at[least] = 1;
            return true;
        }
    }
}

uint32_t form_chunk(const struct core *core, const struct task *task, const struct node *const *at,
                    uint32_t turn, uint32_t *ret)
{
    const struct form *form = shape_form(core_shape(core, task->shape));
    struct form_counts have;
    struct form_counts more = {{0}};
    have_count(core, task, form, at, &have);
    if (!form_satisfied(form, 0, &have)) {
        if (turn >= ways_of(form)) {
            return 0;
        }
        (void)form_missing(form, 0, &have, turn, &more);
    } else if (!group_turn(form, &have, &turn, &more) && !leaf_turn(form, &have, turn, &more)) {
        return 0;
    }
    uint32_t count = 0;
    for (uint32_t leaf = form_leaf_next(form, 0); leaf < form->group_count;
         leaf = form_leaf_next(form, leaf + 1)) {
        const struct form_group *own = &form->groups[leaf];
        for (uint32_t i = own->first; i < own->first + own->count && more.at[leaf] > 0; i++) {
            if (at[i] == NULL && core_instance(core, task->id, i)->state == INSTANCE_WAITING) {
                ret[count++] = i;
                more.at[leaf]--;
            }
        }
    }
    return count;
}

void form_next_amounts(const struct core *core, const struct task *task, uint32_t count,
                       enum slots_bound bound, struct vector *ret)
{
    if (!form_grouped(shape_form(core_shape(core, task->shape)))) {
        turns_amounts(core, task, count, bound, ret);
        return;
    }
    struct arena arena;
    arena_init(&arena);
    uint32_t *indices = arena_new(&arena, uint32_t, task->instance_count);
    const struct node **at = form_at(core, task, &arena);
    form_amounts(core, task, indices, form_chunk(core, task, at, 0, indices), bound, ret);
    arena_done(&arena);
}

void form_amounts(const struct core *core, const struct task *task, const uint32_t *indices,
                  uint32_t count, enum slots_bound bound, struct vector *ret)
{
    *ret = (struct vector){{0}};
    for (uint32_t i = 0; i < count; i++) {
        const struct request *request = task_request(core, task, indices[i]);
        struct vector one;
        core_request_vector(core, request, &one);
        one.at[DIM_SLOTS] = core_request_slots(core, task->pool, request, bound);
        vector_add(ret, &one);
        for (uint32_t dim = 0; dim < QUOTA_DIMS_MAX; dim++) {
            ret->at[dim] = ret->at[dim] < QUOTA_SUM_MAX ? ret->at[dim] : QUOTA_SUM_MAX;
        }
    }
}
