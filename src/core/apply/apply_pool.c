/* apply_pool.c - facts of pools and passes.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core/apply/apply.h"
#include "core/model/pool.h"
#include "core/model/task.h"
#include "core/state/capacity.h"
#include "core/state/change.h"
#include "core/state/fact.h"
#include "core/state/query.h"
#include "core/state/state.h"

void apply_pool_blocked(struct core *core, const struct fact *fact)
{
    struct pool *pool = change_pool_edit(core, fact->head.pool);
    change_pool_blocked_set(core, pool, fact->head.task, fact->time_ms,
                            task_overtaken_ms(query_task(core, fact->head.task)));
}

void apply_pool_reserved(struct core *core, const struct fact *fact)
{
    change_pool_reserved_set(core, fact->reserved.pool, fact->reserved.at, fact->reserved.count);
}

void apply_pool_wake(struct core *core, const struct fact *fact)
{
    change_pool_wake_set(core, change_pool_edit(core, fact->pool_wake.pool), fact->pool_wake.at_ms);
}

static void pass_settle(struct core *core, pool_id pool)
{
    change_pool_edit(core, pool)->due = 0;
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
    }
}

void apply_pool_idle(struct core *core, pool_id pool)
{
    if (query_pool(core, pool) != NULL) {
        pass_settle(core, pool);
    }
}
