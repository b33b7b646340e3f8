/* fleet.c - see fleet.h. SPDX-License-Identifier: Apache-2.0 */
#include "sim/fleet.h"

#include "base/must.h"

/* What a node of the pool costs in an hour. A flavor keeps its price during a run. */
static int64_t price_milli(const struct core *core, pool_id id)
{
    const struct pool *pool = query_pool(core, id);
    const struct flavor *flavor = pool != NULL ? query_flavor(core, pool->flavor) : NULL;
    return flavor != NULL ? flavor->price_milli : 0;
}

void fleet_fact(struct fleet *fleet, const struct core *core, const struct fact *fact)
{
    if (fact->type == FACT_LAUNCH_ASKED) {
        fleet->launched++;
        fleet->now++;
        fleet->rate_milli += price_milli(core, fact->launch.pool);
    } else if (fact->type == FACT_LAUNCH_ENDED) {
        must(fleet->now > 0);
        fleet->now--;
        fleet->refused += fact->launch.failed;
        fleet->rate_milli -= price_milli(core, fact->launch.pool);
    }
}

void fleet_count(struct fleet *fleet, int64_t for_ms)
{
    fleet->node_ms += (int64_t)fleet->now * for_ms;
    if (for_ms > 0 && fleet->now > fleet->most) {
        fleet->most = fleet->now; /* a launch that is refused at once was never a node */
    }
    fleet->cost += (__int128)fleet->rate_milli * for_ms;
}

int64_t fleet_cost_milli(const struct fleet *fleet)
{
    enum { MS_PER_HOUR = 3600 * 1000 };
    return (int64_t)(fleet->cost / MS_PER_HOUR);
}
