/* grow_zone.c - see grow_zone.h.
 *
 *   a zone is open, and no other pool is ahead in line ─▶ all nodes are asked for there
 *   a zone is open, another pool is ahead              ─▶ the pool waits; it is due when the pool ahead has asked
 *   no zone is open, the pool is first in line         ─▶ one node is asked for where the retry moment has come
 *   no zone is open, another pool is ahead             ─▶ the pool waits
 *
 * So capacity that comes back goes to the pool that has waited longest, and a zone that stays sold out costs one refused
 * launch at each retry, however many pools and nodes wait.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core/sched/grow_zone.h"

#include "base/must.h"
#include "core/model/flavor.h"
#include "core/model/table.h"
#include "core/state/query.h"
#include "core/state/soldout.h"
#include "core/state/state.h"

/* `before` launches stand in the list already. */
static void launch_ask(const struct core *core, const struct pool *pool, const char *zone,
                       uint32_t before, const struct input *in, struct facts *out)
{
    struct fact *fact = fact_list_add(out, in, FACT_LAUNCH_ASKED);
    fact->launch.launch.v = core->launches.last + 1 + before;
    fact->launch.pool = pool->id;
    fact->launch.zone = zone;
}

void grow_zone_launches(const struct core *core, const struct pool *pool, const char *zone,
                        uint32_t count, const struct input *in, struct facts *out)
{
    for (uint32_t i = 0; i < count; i++) {
        launch_ask(core, pool, zone, i, in, out);
    }
}

static void waits_note(const struct pool *pool, uint32_t nodes, const struct input *in,
                       struct facts *out)
{
    if (pool->sold_nodes != nodes) {
        struct fact *fact = fact_list_add(out, in, FACT_FLAVOR_WAITS);
        fact->flavor_waits.pool = pool->id;
        fact->flavor_waits.nodes = nodes;
    }
}

/* Has the pool itself asked whether a zone is still sold out, without an answer yet? Then it keeps its place in line. */
static bool has_probe(const struct core *core, const struct pool *pool, const struct flavor *flavor)
{
    for (uint32_t i = 0; i < flavor->zone_count; i++) {
        const struct launch *probe = query_launch(core, flavor->zones[i].probe);
        if (probe != NULL && probe->pool.v == pool->id.v) {
            return true;
        }
    }
    return false;
}

/* Asks the provider for one node in each zone whose retry moment has come. Returns the next retry moment of a zone; 0: there is none. */
static int64_t probes_ask(const struct core *core, const struct pool *pool,
                          const struct flavor *flavor, uint32_t wanted, const struct input *in,
                          struct facts *out)
{
    int64_t next_ms = 0;
    uint32_t asked = 0;
    for (uint32_t i = 0; i < flavor->zone_count; i++) {
        const struct flavor_zone *zone = &flavor->zones[i];
        if (zone->probe.v != 0) {
            continue;
        }
        if (zone->retry_ms > in->now_ms) {
            next_ms = next_ms == 0 || zone->retry_ms < next_ms ? zone->retry_ms : next_ms;
        } else if (asked < wanted) {
            const char *name = arena_str(out->arena, query_flavor_zone(flavor, i));
            launch_ask(core, pool, name, asked++, in, out);
        }
    }
    return asked > 0 ? 0 : next_ms;
}

int64_t grow_zone_ask(const struct core *core, const struct pool *pool, uint32_t wanted,
                      const struct input *in, struct facts *out)
{
    const struct flavor *flavor = query_flavor(core, pool->flavor);
    must(flavor != NULL);
    const struct pool *first = soldout_first(core, flavor->id, in->now_ms);
    const bool ahead = first == NULL || first->id.v == pool->id.v;
    const int open = soldout_open_zone(flavor, in->now_ms);
    if (wanted == 0) {
        if (!has_probe(core, pool, flavor)) {
            waits_note(pool, 0, in, out);
        }
        return 0;
    }
    if (open >= 0 && ahead) {
        const char *zone = arena_str(out->arena, query_flavor_zone(flavor, (uint32_t)open));
        waits_note(pool, 0, in, out);
        grow_zone_launches(core, pool, zone, wanted, in, out);
        return 0;
    }
    waits_note(pool, wanted, in, out);
    return open < 0 && ahead ? probes_ask(core, pool, flavor, wanted, in, out) : 0;
}
