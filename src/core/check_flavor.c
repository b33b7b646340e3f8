/* check_flavor.c - checks flavors: K18 their pools have their amounts, and the pools that wait for them stand in line.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/must.h"
#include "core/check.h"
#include "core/model/flavor.h"
#include "core/model/launch.h"
#include "core/model/oindex.h"
#include "core/model/pool.h"
#include "core/model/table.h"
#include "core/state/key.h"
#include "core/state/query.h"
#include "core/state/state.h"

static void expect(const struct core *core, uint64_t *counts, enum order order, struct okey key)
{
    must(oindex_has(&core->orders[order], key)); /* K5 */
    counts[order]++;
}

static uint32_t check_pools(const struct core *core, const struct flavor *flavor, uint64_t *counts)
{
    uint32_t count = 0;
    for (uint64_t id = table_next(&core->pools, 0); id != 0; id = table_next(&core->pools, id)) {
        const struct pool *pool = table_get(&core->pools, id);
        if (pool->flavor.v != flavor->id.v) {
            continue;
        }
        must(!pool->deleted);
        must(pool->provider == flavor->provider);
        must(pool->node_slots == (flavor->gpus > 0 ? flavor->gpus : flavor->slots));
        must(pool->node_gpus == flavor->gpus);
        must(pool->node_cpu_milli == flavor->cpu_milli);
        must(pool->node_memory_bytes == flavor->memory_bytes);
        must((pool->sold_nodes > 0) == (pool->sold_wait_ms != 0));
        expect(core, counts, ORDER_FLAVOR_POOL, (struct okey){{flavor->id.v, id}});
        must((pool->sold_zones != 0) == (pool->sold_wait_ms != 0));
        for (uint32_t i = 0; i < flavor->zone_count; i++) {
            if ((pool->sold_zones >> i & 1) != 0) {
                expect(core, counts, ORDER_FLAVOR_WAIT,
                       (struct okey){{flavor->id.v, i, (uint64_t)pool->sold_wait_ms, id}});
            }
        }
        count++;
    }
    return count;
}

void check_flavor(const struct core *core, uint64_t *counts)
{
    must(core->flavors.count <= FLAVORS_MAX);
    for (const struct flavor *flavor = query_flavor_next(core, (flavor_id){0}); flavor != NULL;
         flavor = query_flavor_next(core, flavor->id)) {
        const uint64_t hash = key_name_hash(query_flavor_name(core, flavor->id));
        expect(core, counts, ORDER_FLAVOR_NAME, (struct okey){{hash, flavor->id.v}});
        must(flavor->zone_count > 0);
        must(flavor->zone_count <= FLAVOR_ZONES_MAX);
        must(flavor->pool_count == check_pools(core, flavor, counts));
        for (uint32_t i = 0; i < flavor->zone_count; i++) {
            const struct flavor_zone *zone = &flavor->zones[i];
            must(zone->probe.v == 0 || query_launch(core, zone->probe) != NULL);
            must((zone->since_ms != 0) == (zone->failures > 0));
        }
    }
}
