/* form_chunk.c - the next instances of a gang with a form.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core/sched/order/form_chunk.h"

#include "base/must.h"
#include "core/model/claim.h"
#include "core/model/form.h"
#include "core/model/form_grow.h"
#include "core/model/resource.h"
#include "core/model/shape.h"
#include "core/sched/order/turns.h"

const struct node **form_chunk_at(const struct core *core, const struct task *task,
                                  struct arena *arena)
{
    const struct node **at = arena_new(arena, const struct node *, task->instance_count);
    for (uint32_t i = 0; i < task->instance_count; i++) {
        const struct instance *instance = query_instance(core, task->id, i);
        const struct claim *claim = query_instance_claim(core, task->id, i);
        must(instance != NULL);
        const bool stays =
            instance->state == INSTANCE_STARTING || instance->state == INSTANCE_RUNNING;
        at[i] = claim != NULL ? query_node(core, claim->node)
                : stays       ? query_node(core, instance->node)
                              : NULL;
    }
    return at;
}

/* Counts for each leaf the instances that have a place or have ended. */
static void have_of(const struct core *core, const struct task *task, const struct form *form,
                    const struct node *const *at, struct form_have *ret)
{
    *ret = (struct form_have){{0}};
    for (uint32_t leaf = form_leaf_next(form, 0); leaf < form->group_count;
         leaf = form_leaf_next(form, leaf + 1)) {
        const struct form_group *own = &form->groups[leaf];
        must(own->first + own->count <= task->instance_count);
        for (uint32_t i = own->first; i < own->first + own->count; i++) {
            ret->at[leaf] +=
                at[i] != NULL || query_instance(core, task->id, i)->state == INSTANCE_ENDED;
        }
    }
}

/* Writes the waiting instances by which the leaves grow as `more` says. Returns their number. The result 0 means that too few instances
 * wait: others are still leaving their nodes. */
static uint32_t chunk_fill(const struct core *core, const struct task *task,
                           const struct form *form, const struct node *const *at,
                           struct form_have more, uint32_t *ret)
{
    uint32_t count = 0;
    for (uint32_t leaf = form_leaf_next(form, 0); leaf < form->group_count;
         leaf = form_leaf_next(form, leaf + 1)) {
        const struct form_group *own = &form->groups[leaf];
        for (uint32_t i = own->first; i < own->first + own->count && more.at[leaf] > 0; i++) {
            if (at[i] == NULL && query_instance(core, task->id, i)->state == INSTANCE_WAITING) {
                ret[count++] = i;
                more.at[leaf]--;
            }
        }
        if (more.at[leaf] > 0) {
            return 0;
        }
    }
    must(count <= task->instance_count); /* the room of `ret` */
    return count;
}

uint32_t form_chunk(const struct core *core, const struct task *task, const struct node *const *at,
                    uint32_t choice, uint32_t *ret)
{
    const struct form *form = shape_form(query_task_shape(core, task->shape));
    struct form_have have;
    struct form_have more;
    have_of(core, task, form, at, &have);
    for (uint32_t next = 0; form_grow_next(form, &have, next, &more); next++) {
        const uint32_t count = chunk_fill(core, task, form, at, more, ret);
        if (count > 0 && choice-- == 0) {
            return count;
        }
    }
    return 0;
}

void form_chunk_next_amounts(const struct core *core, const struct task *task, uint32_t count,
                             enum slots_bound bound, struct vector *ret)
{
    form_chunk_later_amounts(core, task, 0, count, bound, ret);
}

void form_chunk_later_amounts(const struct core *core, const struct task *task, uint32_t added,
                              uint32_t count, enum slots_bound bound, struct vector *ret)
{
    if (!form_grouped(shape_form(query_task_shape(core, task->shape)))) {
        turns_amounts(core, task, count, bound, ret);
        return;
    }
    must(added <= task->instance_count);
    struct arena arena;
    arena_init(&arena);
    const struct node anywhere = {.id = {0}};
    uint32_t *indices = arena_new(&arena, uint32_t, task->instance_count);
    const struct node **at = form_chunk_at(core, task, &arena);
    uint32_t next = form_chunk(core, task, at, 0, indices);
    while (next > 0 && next <= added) {
        added -= next;
        for (uint32_t i = 0; i < next; i++) {
            at[indices[i]] = &anywhere;
        }
        next = form_chunk(core, task, at, 0, indices);
    }
    form_chunk_amounts(core, task, indices, next, bound, ret);
    arena_done(&arena);
}

void form_chunk_amounts(const struct core *core, const struct task *task, const uint32_t *indices,
                        uint32_t count, enum slots_bound bound, struct vector *ret)
{
    *ret = (struct vector){{0}};
    for (uint32_t i = 0; i < count; i++) {
        must(indices[i] < task->instance_count);
        const struct request *request = query_task_request(core, task, indices[i]);
        struct vector one;
        query_dim_request(core, request, &one);
        one.at[DIM_SLOTS] = query_dim_slots(core, task->pool, request, bound);
        vector_add(ret, &one);
        for (uint32_t dim = 0; dim < QUOTA_DIMS_MAX; dim++) {
            ret->at[dim] = ret->at[dim] < QUOTA_SUM_MAX ? ret->at[dim] : QUOTA_SUM_MAX;
        }
    }
}
