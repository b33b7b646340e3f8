/* paid.c - see paid.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "sim/paid.h"

#include "core/model/bucket.h"
#include "core/sched/keep/budget.h"

#include <string.h>

void paid_done(struct paid *paid)
{
    vec_done(&paid->pools);
}

static struct paid_pool *pool_of(struct paid *paid, pool_id pool)
{
    while (paid->pools.count <= pool.v) {
        vec_push(&paid->pools, (struct paid_pool){0});
    }
    return &paid->pools.at[pool.v];
}

static bool held(const struct paid_pool *pool, task_id task)
{
    for (uint32_t i = 0; i < pool->reserved_count; i++) {
        if (pool->reserved[i].task.v == task.v) {
            return true;
        }
    }
    return false;
}

static void reserved_seen(struct paid *paid, const struct fact *fact)
{
    struct paid_pool *pool = pool_of(paid, fact->reserved.pool);
    for (uint32_t i = 0; i < fact->reserved.count; i++) {
        paid->sums.holders += !held(pool, fact->reserved.at[i].task);
    }
    memcpy(pool->reserved, fact->reserved.at, fact->reserved.count * sizeof pool->reserved[0]);
    pool->reserved_count = fact->reserved.count;
}

/* Evictions lower the level at once. Without them the level of the fact is that of the bucket before. */
static void budgets_seen(struct paid *paid, const struct fact *fact)
{
    struct paid_pool *pool = pool_of(paid, fact->budgets.pool);
    const struct bucket *now = &fact->budgets.loss;
    const int64_t before =
        pool->loss.since_ms == 0 ? now->most : bucket_level(&pool->loss, fact->time_ms);
    if (before > now->level) {
        paid->sums.loss = bucket_plus(paid->sums.loss, before - now->level);
        paid->sums.decisions++;
    }
    pool->loss = *now;
    pool->loss.since_ms = fact->time_ms;
}

void paid_fact(struct paid *paid, const struct fact *fact)
{
    if (fact->type == FACT_RESERVED) {
        reserved_seen(paid, fact);
    } else if (fact->type == FACT_BUDGETS) {
        budgets_seen(paid, fact);
    } else if (fact->type == FACT_RELEASED) {
        paid->sums.released++;
    }
}

int64_t paid_kept(const struct pool *pool, int64_t now_ms)
{
    return pool == NULL || pool->reserved_count == 0 ? 0 : budget_look_idle(pool, now_ms).pays;
}

void paid_count(struct paid *paid, const struct core *core, int64_t now_ms, int64_t for_ms)
{
    for (const struct pool *pool = query_pool_next(core, (pool_id){0}); pool != NULL;
         pool = query_pool_next(core, pool->id)) {
        const int64_t kept = paid_kept(pool, now_ms);
        paid->sums.idle = bucket_plus(paid->sums.idle, bucket_times(kept, for_ms));
    }
}
