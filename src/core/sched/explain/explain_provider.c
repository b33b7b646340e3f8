/* explain_provider.c - see explain_provider.h. SPDX-License-Identifier: Apache-2.0 */
#include "core/sched/explain/explain_provider.h"

#include "core/model/fit.h"
#include "core/model/node.h"
#include "core/model/space.h"
#include "core/state/elastic.h"
#include "core/state/query.h"
#include "core/state/soldout.h"
#include "core/state/state.h"

void explain_provider(const struct core *core, const struct task *task, const struct pool *pool,
                      struct reason *ret)
{
    const bool starting = pool->launch_starting > 0;
    const bool refused = pool->launch_retry_ms > core->time_ms;
    const bool sold_out = pool->sold_nodes > 0;
    struct node flavor;
    struct space space;
    if (!elastic_pool(pool) || (!starting && !refused && !sold_out)) {
        return;
    }
    elastic_flavor(pool, &flavor);
    space_now(&flavor, &space);
    if (fit_count(&space, query_task_request(core, task, 0), 1) == 0) {
        return; /* such nodes do not help the task */
    }
    *ret = (struct reason){.pool = pool->id, .smallest = -1, .have = pool->launch_starting};
    if (sold_out) {
        ret->code = REASON_SOLD_OUT;
        ret->need = pool->sold_nodes;
        ret->until_ms = soldout_asked_ms(core, pool);
        (void)str_copy(ret->text, sizeof ret->text, query_flavor_name(core, pool->flavor));
        return;
    }
    ret->code = starting ? REASON_NODES_STARTING : REASON_PROVIDER_FAILED;
    ret->until_ms = starting ? 0 : pool->launch_retry_ms;
}
