/* apply_pool.c - facts of pools and passes.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core/apply/apply.h"

#include "base/must.h"
#include "core/model/pool.h"
#include "core/model/table.h"
#include "core/model/task.h"
#include "core/state/capacity.h"
#include "core/state/change.h"
#include "core/state/fact.h"
#include "core/state/fallback.h"
#include "core/state/query.h"
#include "core/state/soldout.h"
#include "core/state/state.h"

/* Older servers named the first blocked task of a pool. Nothing depends on it any more. */
void apply_pool_blocked(struct core *core, const struct fact *fact)
{
    must(query_pool(core, fact->head.pool) != NULL);
}

void apply_pool_reserved(struct core *core, const struct fact *fact)
{
    change_pool_reserved_set(core, fact->reserved.pool, fact->reserved.at, fact->reserved.count);
}

void apply_pool_budgets(struct core *core, const struct fact *fact)
{
    struct pool *pool = change_pool_edit(core, fact->budgets.pool);
    pool->idle = fact->budgets.idle;
    pool->loss = fact->budgets.loss;
    pool->idle.since_ms = fact->time_ms;
    pool->loss.since_ms = fact->time_ms;
}

void apply_pool_credit(struct core *core, const struct fact *fact)
{
    struct pool *pool = change_pool_edit(core, fact->credit.pool);
    const struct credit *row = &fact->credit.row;
    uint32_t at = 0;
    while (at < pool->credit_count &&
           (pool->credits[at].account.v != row->account.v || pool->credits[at].dim != row->dim)) {
        at++;
    }
    if (row->bucket.most == 0) {
        if (at < pool->credit_count) {
            pool->credits[at] = pool->credits[--pool->credit_count];
            pool->credits[pool->credit_count] = (struct credit){0};
        }
        return;
    }
    must(at < CREDITS_MAX);
    pool->credit_count += at == pool->credit_count;
    pool->credits[at] = *row;
    pool->credits[at].bucket.since_ms = fact->time_ms;
}

void apply_pool_released(struct core *core, const struct fact *fact)
{
    struct task *task = table_edit(&core->tasks, fact->released_holder.task.v);
    must(task != NULL);
    if (task->releases < TASK_RELEASES_MAX) {
        task->releases++;
    }
    fallback_close(core, task);
}

void apply_pool_waits(struct core *core, const struct fact *fact)
{
    soldout_wait_set(core, fact->flavor_waits.pool, fact->flavor_waits.nodes,
                     fact->flavor_waits.zones, fact->time_ms);
}

void apply_pool_wake(struct core *core, const struct fact *fact)
{
    change_pool_wake_set(core, change_pool_edit(core, fact->pool_wake.pool), fact->pool_wake.at_ms);
}

static void pass_settle(struct core *core, pool_id pool)
{
    change_pool_due_set(core, pool, false);
    core->due_last = pool;
    if (core->capacity != NULL) {
        capacity_settled(core, pool);
    }
}

void apply_pool_pass(struct core *core, const struct fact *fact)
{
    core->due_last = fact->pass.pool;
    if (fact->pass.complete) {
        pass_settle(core, fact->pass.pool);
    } else {
        change_pool_due(
            core,
            fact->pass.pool); /* also where the wake-up of the pool was the reason for the pass */
    }
}

void apply_pool_idle(struct core *core, pool_id pool)
{
    if (query_pool(core, pool) != NULL) {
        pass_settle(core, pool);
    }
}
