/* pool.c - what follows from the row of a pool alone.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core/model/pool.h"

#include "core/model/limits.h"

#include "base/checked.h"
#include "core/model/spec.h"

bool pool_by_length(const struct pool *pool)
{
    return pool != NULL && pool->order == QUEUE_SHORT_FIRST && pool->policy != POLICY_FIFO;
}

bool pool_has_reserved(const struct pool *pool, task_id task)
{
    for (uint32_t i = 0; i < pool->reserved_count; i++) {
        if (pool->reserved[i].task.v == task.v) {
            return true;
        }
    }
    return false;
}

bool pool_starts(const struct pool *pool)
{
    return !pool->paused && pool->life.phase == PHASE_OPEN;
}

bool pool_has_tasks(const struct pool *pool)
{
    return pool != NULL && !pool->deleted && pool->life.phase != PHASE_DELETE;
}

uint32_t pool_slots_most(const struct pool *pool)
{
    return pool->slots_per_node > 0 ? pool->slots_per_node - 1 : NODE_SLOTS_MAX;
}

uint32_t pool_node_slots(const struct pool *pool)
{
    const uint32_t most = pool_slots_most(pool);
    return pool->node_slots < most ? pool->node_slots : most;
}
