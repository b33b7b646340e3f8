/* grow_zone.c - see grow_zone.h. Each zone of a flavor has a line of its own. A pool that takes nodes in any zone stands in all lines.
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
#include "core/model/oindex.h"
#include "core/model/task.h"
#include "core/state/key.h"
#include "core/model/flavor.h"
#include "core/model/table.h"
#include "core/state/query.h"
#include "core/state/soldout.h"
#include "core/state/state.h"

#include <string.h>

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

static void waits_note(const struct pool *pool, uint32_t nodes, uint32_t zones,
                       const struct input *in, struct facts *out)
{
    zones = nodes > 0 ? zones : 0;
    if (pool->sold_nodes != nodes || pool->sold_zones != zones) {
        struct fact *fact = fact_list_add(out, in, FACT_FLAVOR_WAITS);
        fact->flavor_waits.pool = pool->id;
        fact->flavor_waits.nodes = nodes;
        fact->flavor_waits.zones = zones;
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

/* ---- the nodes that a pool has in each zone ---- */

static void live_note(const struct flavor *flavor, const struct launch *launch, uint32_t *ret)
{
    const bool live =
        launch != NULL && launch->state != LAUNCH_ENDING && launch->leave == LEAVE_NOT;
    const int zone = live ? query_flavor_zone_named(flavor, query_launch_zone(launch)) : -1;
    if (zone >= 0) {
        ret[zone]++;
    }
}

void grow_zone_live(const struct core *core, const struct pool *pool, uint32_t *ret)
{
    const struct flavor *flavor = query_flavor(core, pool->flavor);
    const struct oindex *starting = &core->orders[ORDER_LAUNCH_STARTING];
    struct okey key = {{pool->id.v, 0, 0, 0}};
    memset(ret, 0, FLAVOR_ZONES_MAX * sizeof *ret);
    for (bool more = oindex_from(starting, key, &key); more && key.at[0] == pool->id.v;
         more = oindex_next(starting, key, &key)) {
        live_note(flavor, query_launch(core, (launch_id){key.at[3]}), ret);
    }
    const struct node *node = query_pool_node_next(core, pool->id, (node_id){0});
    for (; node != NULL; node = query_pool_node_next(core, pool->id, node->id)) {
        live_note(flavor, query_launch(core, node->launch), ret);
    }
}

/* ---- where the nodes are asked for ---- */

/* One look at the zones of a pool's flavor. */
struct look {
    const struct core *core;
    const struct pool *pool;
    const struct flavor *flavor;
    const struct input *in;
    struct facts *out;
    uint32_t asked; /* launches in the list */
};

/* Is no other pool ahead in the line of the zone? */
static bool is_ahead(const struct look *look, uint32_t zone)
{
    const struct pool *first = soldout_first(look->core, look->flavor->id, zone, look->in->now_ms);
    return first == NULL || first->id.v == look->pool->id.v;
}

static bool may_ask(const struct look *look, uint32_t zone)
{
    return soldout_zone_open(&look->flavor->zones[zone], look->in->now_ms) && is_ahead(look, zone);
}

static void zone_ask(struct look *look, uint32_t zone, uint32_t count)
{
    const char *name = arena_str(look->out->arena, query_flavor_zone(look->flavor, zone));
    for (uint32_t i = 0; i < count; i++) {
        launch_ask(look->core, look->pool, name, look->asked++, look->in, look->out);
    }
}

/* Asks the provider for one node in each of these zones whose retry moment has come. Returns the next retry moment of a zone; 0:
 * there is none. */
static int64_t probes_ask(struct look *look, uint32_t zones, uint32_t wanted)
{
    int64_t next_ms = 0;
    uint32_t asked = 0;
    for (uint32_t i = 0; i < look->flavor->zone_count; i++) {
        const struct flavor_zone *zone = &look->flavor->zones[i];
        const bool sold = !soldout_zone_open(zone, look->in->now_ms);
        if ((zones >> i & 1) == 0 || !sold || zone->probe.v != 0 || !is_ahead(look, i)) {
            continue;
        }
        if (zone->retry_ms > look->in->now_ms) {
            next_ms = next_ms == 0 || zone->retry_ms < next_ms ? zone->retry_ms : next_ms;
        } else if (asked < wanted) {
            zone_ask(look, i, 1);
            asked++;
        }
    }
    return asked > 0 ? 0 : next_ms;
}

/* A pool with a number of nodes for each zone: each zone has its own demand and its own line. */
static int64_t counted_ask(struct look *look, uint32_t wanted)
{
    const struct pool *pool = look->pool;
    uint32_t live[FLAVOR_ZONES_MAX];
    uint32_t waits = 0;
    uint32_t zones = 0;
    grow_zone_live(look->core, pool, live);
    for (uint32_t i = 0; i < look->flavor->zone_count && wanted > 0; i++) {
        uint32_t lacks = pool->zone_wants[i] > live[i] ? pool->zone_wants[i] - live[i] : 0;
        lacks = lacks < wanted ? lacks : wanted;
        wanted -= lacks;
        if (lacks > 0 && may_ask(look, i)) {
            zone_ask(look, i, lacks);
        } else if (lacks > 0) {
            waits += lacks;
            zones |= 1u << i;
        }
    }
    waits_note(pool, waits, zones, look->in, look->out);
    return waits > 0 ? probes_ask(look, zones, waits) : 0;
}

/* Divides the nodes over the zones that may be asked, one at a time, where the pool has the fewest. False: no zone may be asked. */
static bool spread_ask(struct look *look, uint32_t wanted)
{
    uint32_t live[FLAVOR_ZONES_MAX];
    uint32_t more[FLAVOR_ZONES_MAX] = {0};
    bool any = false;
    grow_zone_live(look->core, look->pool, live);
    for (uint32_t n = 0; n < wanted; n++) {
        uint32_t best = FLAVOR_ZONES_MAX;
        for (uint32_t i = 0; i < look->flavor->zone_count; i++) {
            const bool fewer =
                best == FLAVOR_ZONES_MAX || live[i] + more[i] < live[best] + more[best];
            best = fewer && may_ask(look, i) ? i : best;
        }
        if (best == FLAVOR_ZONES_MAX) {
            return false;
        }
        more[best]++;
        any = true;
    }
    for (uint32_t i = 0; any && i < look->flavor->zone_count; i++) {
        zone_ask(look, i, more[i]);
    }
    return any;
}

/* Asks for all nodes in the first zone that may be asked. */
static bool first_ask(struct look *look, uint32_t wanted)
{
    for (uint32_t i = 0; i < look->flavor->zone_count; i++) {
        if (may_ask(look, i)) {
            zone_ask(look, i, wanted);
            return true;
        }
    }
    return false;
}

int64_t grow_zone_ask(const struct core *core, const struct pool *pool, uint32_t wanted,
                      const struct input *in, struct facts *out)
{
    struct look look = {.core = core,
                        .pool = pool,
                        .flavor = query_flavor(core, pool->flavor),
                        .in = in,
                        .out = out};
    must(look.flavor != NULL);
    if (wanted == 0) {
        if (!has_probe(core, pool, look.flavor)) {
            waits_note(pool, 0, 0, in, out);
        }
        return 0;
    }
    if (pool->zoned) {
        return counted_ask(&look, wanted);
    }
    const bool spread = pool->accepts == 1u << TASK_SERVICE;
    if (spread ? spread_ask(&look, wanted) : first_ask(&look, wanted)) {
        waits_note(pool, 0, 0, in, out);
        return 0;
    }
    const uint32_t zones = soldout_zones(look.flavor);
    waits_note(pool, wanted, zones, in, out);
    return probes_ask(&look, zones, wanted);
}
