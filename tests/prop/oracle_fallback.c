/* oracle_fallback.c - tasks that name several pools: all their places are in one pool, and a task that finds no place in a
 * pool without a provider waits in its next pool, too, unless its own conditions say otherwise.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core/model/fallback.h"
#include "core/state/elastic.h"
#include "core/state/fallback.h"
#include "law.h"
#include "oracle.h"

static void places_check(const struct core *core, const struct task *task)
{
    for (uint32_t i = 0; i < task->instance_count; i++) {
        const struct instance *instance = query_instance(core, task->id, i);
        const bool holds = instance->state != INSTANCE_WAITING && instance->state != INSTANCE_ENDED;
        law(!holds || query_node(core, instance->node)->pool.v == task->pool.v,
            "P11: all places of a task are in one pool");
    }
}

void oracle_fallback(const struct core *core, pool_id settled)
{
    const struct pool *pool = query_pool(core, settled);
    const bool full = pool != NULL && !pool->paused && !elastic_pool(pool);
    for (const struct task *task = query_task_next(core, (task_id){0}); task != NULL;
         task = query_task_next(core, task->id)) {
        const struct fallback *list = fallback_of(core, task);
        places_check(core, task);
        if (list == NULL || !full || list->pools[list->opened - 1].v != settled.v) {
            continue;
        }
        const bool waits =
            task->queued && task->active_count == 0 && task->claimed_count == 0 && !task->gang;
        law(!waits || (list->on & FALLBACK_ON_NO_CAPACITY) == 0 ||
                fallback_next(core, list) == list->count,
            "what finds no place in a full pool waits in its next pool, too");
    }
}
