/* fleet.c - see fleet.h. SPDX-License-Identifier: Apache-2.0 */
#include "sim/fleet.h"

#include "base/must.h"

void fleet_fact(struct fleet *fleet, const struct fact *fact)
{
    if (fact->type == FACT_LAUNCH_ASKED) {
        fleet->launched++;
        fleet->now++;
        fleet->most = fleet->now > fleet->most ? fleet->now : fleet->most;
    } else if (fact->type == FACT_LAUNCH_ENDED) {
        must(fleet->now > 0);
        fleet->now--;
    }
}

void fleet_count(struct fleet *fleet, int64_t for_ms)
{
    fleet->node_ms += (int64_t)fleet->now * for_ms;
}
