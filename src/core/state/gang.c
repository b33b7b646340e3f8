/* gang.c - gangs that have lost some of their instances and may become whole again (P2).
 *
 *   whole ─an instance is lost─▶ stale: the others go on, the missing ones wait ─┬─ placed in time ─▶ whole
 *                                                                                └─ grace over ─▶ all are told to stop
 *
 * An elastic gang says by its minimum that instances come and go, so its pool's grace counts for it. One that needs all of its
 * instances is stopped at once, unless its user gave it a grace of its own: who stays cannot work on with a newcomer. A group that is
 * not needed breaks for itself: it is whole again in time, or those of it that stay are told to stop, and the gang goes on.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core/state/gang.h"

#include "base/checked.h"
#include "base/must.h"
#include "core/model/form.h"
#include "core/model/form_grow.h"
#include "core/model/instance.h"
#include "core/model/oindex.h"
#include "core/model/shape.h"
#include "core/model/spec.h"
#include "core/model/table.h"
#include "core/state/key.h"
#include "core/state/query.h"
#include "core/state/state.h"

int64_t gang_grace_ms(const struct core *core, const struct task *task)
{
    if (!task_gang_may_wait(task)) {
        return 0;
    }
    const struct pool *pool = table_get(&core->pools, task->pool.v);
    must(pool != NULL);
    return task->own_stale_grace ? task->stale_grace_ms : pool->stale_grace_ms;
}

/* ---- what it has ---- */

enum {
    HAVE_STAYS = 1 << 0,    /* runs, and is not told to stop */
    HAVE_DONE = 1 << 1,     /* has done its work */
    HAVE_PROMISED = 1 << 2, /* waits for a place that is promised to it */
};

static unsigned have_as(const struct core *core, const struct instance *instance)
{
    if (instance->state == INSTANCE_WAITING) {
        return query_instance_claim(core, instance->task, instance->index) != NULL ? HAVE_PROMISED
                                                                                   : 0;
    }
    return instance->state == INSTANCE_ENDED ? HAVE_DONE : instance_stays(instance) * HAVE_STAYS;
}

/* Instances by group that are one of these. */
static void have_count(const struct core *core, const struct task *task, const struct form *form,
                       unsigned kinds, struct form_have *ret)
{
    *ret = (struct form_have){{0}};
    for (uint32_t leaf = form_leaf_next(form, 0); leaf < form->group_count;
         leaf = form_leaf_next(form, leaf + 1)) {
        const struct form_group *own = &form->groups[leaf];
        for (uint32_t i = own->first; i < own->first + own->count; i++) {
            const struct instance *instance = query_instance_row(core, task->instance_first + i);
            ret->at[leaf] += (have_as(core, instance) & kinds) != 0;
        }
    }
}

void gang_have(const struct core *core, const struct task *task, struct form_have *ret,
               struct form_have *ret_stays)
{
    const struct form *form = shape_form(query_task_shape(core, task->shape));
    have_count(core, task, form, HAVE_STAYS | HAVE_DONE, ret);
    if (ret_stays != NULL) {
        have_count(core, task, form, HAVE_STAYS, ret_stays);
    }
}

void gang_count(const struct core *core, struct task *task)
{
    if (!task->by_groups) {
        return;
    }
    const struct form *form = shape_form(query_task_shape(core, task->shape));
    struct form_have have;
    struct form_have stays;
    gang_have(core, task, &have, &stays);
    const bool broken =
        form_grow_broken(form, &have, &stays, form->group_count) < form->group_count;
    task->lacks = (uint8_t)(!form_grow_whole(form, &have) ? LACKS_OF_ALL
                            : broken                      ? LACKS_OF_A_GROUP
                                                          : LACKS_NOTHING);
}

bool gang_claims_short(const struct core *core, const struct task *task)
{
    if (!task->by_groups) {
        return task_grown(task) + task->claimed_count < task->min_count;
    }
    const struct form *form = shape_form(query_task_shape(core, task->shape));
    struct form_have have;
    have_count(core, task, form, HAVE_STAYS | HAVE_DONE | HAVE_PROMISED, &have);
    return !form_grow_whole(form, &have);
}

bool gang_without(const struct core *core, const struct task *task, const struct instance *instance)
{
    if (!task->by_groups) {
        return task_grown(task) - instance_stays(instance) >= task->min_count;
    }
    const struct form *form = shape_form(query_task_shape(core, task->shape));
    struct form_have have;
    gang_have(core, task, &have, NULL);
    have.at[form_leaf(form, instance->index) - form->groups] -= instance_stays(instance);
    return form_grow_whole(form, &have);
}

/* ---- broken ones ---- */

bool gang_stale_key(const struct core *core, const struct task *task, struct okey *ret)
{
    const int64_t grace_ms = task->stale_ms > 0 ? gang_grace_ms(core, task) : STALE_GRACE_NEVER;
    if (grace_ms == STALE_GRACE_NEVER) {
        return false;
    }
    *ret =
        (struct okey){{(uint64_t)i64_add(task->stale_ms, grace_ms), DEADLINE_STALE, task->id.v, 0}};
    return true;
}

void gang_stale_update(struct core *core, struct task *task)
{
    if (!task_gang_may_wait(task) || !task_gang_broken(task)) {
        task->stale_ms = 0;
    } else if (task->stale_ms == 0) {
        task->stale_ms = core->time_ms > 0 ? core->time_ms : 1;
    }
}

/* Each stale gang of the pool, its deadline taken out (or, with `put`, put in). */
static void deadlines_move(struct core *core, pool_id pool, bool put)
{
    const account_id first = {0};
    struct okey key = {{ACCOUNT_KEY(pool, first), 0, 0, 0}};
    while (oindex_next(&core->orders[ORDER_ACCOUNT_RUNNING], key, &key) &&
           key.at[0] >> 32 == pool.v) {
        struct okey stale;
        if (!gang_stale_key(core, query_task(core, (task_id){key.at[3]}), &stale)) {
            continue;
        }
        if (put) {
            must(oindex_insert(&core->orders[ORDER_DEADLINE], stale));
        } else {
            must(oindex_remove(&core->orders[ORDER_DEADLINE], stale));
        }
    }
}

void gang_pool_grace_set(struct core *core, struct pool *pool, int64_t grace_ms)
{
    if (pool->stale_grace_ms != grace_ms) {
        deadlines_move(core, pool->id, false);
        pool->stale_grace_ms = grace_ms;
        deadlines_move(core, pool->id, true);
    }
}
