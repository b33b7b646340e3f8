/* soldout.c - see soldout.h. SPDX-License-Identifier: Apache-2.0 */
#include "core/state/soldout.h"

#include "core/state/elastic.h"

#include "base/must.h"
#include "core/model/oindex.h"
#include "core/state/change.h"
#include "core/state/key.h"
#include "core/state/query.h"
#include "core/state/state.h"

enum {
    RETRY_MS =
        30 * 1000, /* from the first refusal to the next question; then twice as long, and so on */
    RETRY_DOUBLINGS_MAX = 6,  /* up to 32 minutes */
    FADE_MS = 60 * 60 * 1000, /* nobody has asked for so long: nothing is known about the zone */
};

bool soldout_zone_open(const struct flavor_zone *zone, int64_t now_ms)
{
    return zone->since_ms == 0 || (zone->probe.v == 0 && now_ms - zone->failed_ms >= FADE_MS);
}

int soldout_open_zone(const struct flavor *flavor, int64_t now_ms)
{
    for (uint32_t i = 0; i < flavor->zone_count; i++) {
        if (soldout_zone_open(&flavor->zones[i], now_ms)) {
            return (int)i;
        }
    }
    return -1;
}

int64_t soldout_asked_ms(const struct core *core, const struct pool *pool)
{
    const struct flavor *flavor = query_flavor(core, pool->flavor);
    int64_t first_ms = 0;
    for (uint32_t i = 0; flavor != NULL && i < flavor->zone_count; i++) {
        const struct flavor_zone *zone = &flavor->zones[i];
        if (zone->since_ms != 0 && zone->probe.v == 0 && (pool->sold_zones >> i & 1) != 0 &&
            (first_ms == 0 || zone->retry_ms < first_ms)) {
            first_ms = zone->retry_ms;
        }
    }
    return first_ms;
}

/* The zone of a launch, for writing; NULL: its pool has no flavor, or the flavor no longer has the zone. */
static struct flavor_zone *zone_of(struct core *core, const struct launch *launch)
{
    const struct pool *pool = query_pool(core, launch->pool);
    const struct flavor *flavor = pool != NULL ? query_flavor(core, pool->flavor) : NULL;
    const int zone =
        flavor != NULL ? query_flavor_zone_named(flavor, query_launch_zone(launch)) : -1;
    return zone < 0 ? NULL : &change_flavor_edit(core, flavor->id)->zones[zone];
}

bool soldout_failed(struct core *core, const struct launch *launch, enum provider_why why,
                    int64_t now_ms)
{
    const bool market = why == PROVIDER_WHY_NO_CAPACITY || why == PROVIDER_WHY_PRICE;
    struct flavor_zone *zone = market ? zone_of(core, launch) : NULL;
    if (zone == NULL) {
        return false;
    }
    if (soldout_zone_open(zone, now_ms)) {
        *zone = (struct flavor_zone){.since_ms = now_ms};
    }
    /* Launches that were asked for before the last refusal say nothing new. */
    if (launch->asked_ms >= zone->retry_ms) {
        const uint32_t doublings =
            zone->failures < RETRY_DOUBLINGS_MAX ? zone->failures : RETRY_DOUBLINGS_MAX;
        zone->failures += zone->failures < UINT32_MAX;
        zone->retry_ms = now_ms + ((int64_t)RETRY_MS << doublings);
    }
    zone->failed_ms = now_ms;
    zone->why = why;
    soldout_next_due(core, query_pool(core, launch->pool)->flavor);
    return true;
}

void soldout_works(struct core *core, const struct launch *launch)
{
    struct flavor_zone *zone = zone_of(core, launch);
    /* The launch that asks again knows best, also where an older launch was refused meanwhile. */
    if (zone != NULL && zone->since_ms != 0 &&
        (launch->id.v == zone->probe.v || launch->asked_ms > zone->failed_ms)) {
        *zone = (struct flavor_zone){0};
        soldout_next_due(core, query_pool(core, launch->pool)->flavor);
    }
}

void soldout_asked(struct core *core, const struct launch *launch, int64_t now_ms)
{
    struct flavor_zone *zone = zone_of(core, launch);
    if (zone != NULL && !soldout_zone_open(zone, now_ms) && zone->probe.v == 0) {
        zone->probe = launch->id;
    }
}

void soldout_ended(struct core *core, const struct launch *launch)
{
    struct flavor_zone *zone = zone_of(core, launch);
    if (zone != NULL && zone->probe.v == launch->id.v) {
        zone->probe.v = 0;
        soldout_next_due(core, query_pool(core, launch->pool)->flavor);
    }
}

/* ---- the waiting list ---- */

static struct okey wait_key(const struct pool *pool, uint32_t zone)
{
    return (struct okey){{pool->flavor.v, zone, (uint64_t)pool->sold_wait_ms, pool->id.v}};
}

uint32_t soldout_zones(const struct flavor *flavor)
{
    return (1u << flavor->zone_count) - 1;
}

/* Puts the pool into the lines of its zones, or takes it out of them. */
static void lines_set(struct core *core, const struct pool *pool, bool in)
{
    struct oindex *order = &core->orders[ORDER_FLAVOR_WAIT];
    const struct flavor *flavor = query_flavor(core, pool->flavor);
    must(flavor != NULL);
    for (uint32_t i = 0; i < flavor->zone_count; i++) {
        if ((pool->sold_zones >> i & 1) != 0) {
            must(in ? oindex_insert(order, wait_key(pool, i))
                    : oindex_remove(order, wait_key(pool, i)));
        }
    }
}

void soldout_wait_set(struct core *core, pool_id id, uint32_t nodes, uint32_t zones, int64_t now_ms)
{
    struct pool *pool = change_pool_edit(core, id);
    const bool left = pool->sold_wait_ms != 0 && (nodes == 0 || zones != pool->sold_zones);
    if (pool->sold_wait_ms != 0) {
        lines_set(core, pool, false);
    }
    pool->sold_nodes = nodes;
    pool->sold_zones = nodes > 0 ? zones : 0;
    if (nodes == 0) {
        pool->sold_wait_ms = 0;
    } else {
        must(pool->flavor.v != 0);
        pool->sold_wait_ms = pool->sold_wait_ms != 0 ? pool->sold_wait_ms : now_ms;
        lines_set(core, pool, true);
    }
    if (left) {
        soldout_next_due(core, pool->flavor);
    }
    elastic_replace_update(core, id);
}

static void lines_change(struct core *core, flavor_id flavor, bool in)
{
    for (const struct pool *pool = query_flavor_pool_next(core, flavor, (pool_id){0}); pool != NULL;
         pool = query_flavor_pool_next(core, flavor, pool->id)) {
        if (pool->sold_wait_ms != 0 && in) {
            change_pool_edit(core, pool->id)->sold_zones = FLAVOR_ZONES_ALL;
        }
        if (pool->sold_wait_ms != 0) {
            lines_set(core, query_pool(core, pool->id), in);
        }
    }
}

void soldout_lines_leave(struct core *core, flavor_id flavor)
{
    lines_change(core, flavor, false);
}

void soldout_lines_join(struct core *core, flavor_id flavor)
{
    lines_change(core, flavor, true);
}

const struct pool *soldout_line_next(const struct core *core, flavor_id flavor, uint32_t zone,
                                     const struct pool *after)
{
    struct okey key = after != NULL ? wait_key(after, zone) : (struct okey){{flavor.v, zone}};
    if (!oindex_next(&core->orders[ORDER_FLAVOR_WAIT], key, &key) || key.at[0] != flavor.v ||
        key.at[1] != zone) {
        return NULL;
    }
    return query_pool(core, (pool_id){(uint32_t)key.at[3]});
}

const struct pool *soldout_first(const struct core *core, flavor_id flavor, uint32_t zone,
                                 int64_t now_ms)
{
    const struct pool *pool = soldout_line_next(core, flavor, zone, NULL);
    while (pool != NULL && (pool->paused || pool->launch_retry_ms > now_ms)) {
        pool = soldout_line_next(core, flavor, zone, pool);
    }
    return pool;
}

void soldout_next_due(struct core *core, flavor_id id)
{
    const struct flavor *flavor = query_flavor(core, id);
    for (uint32_t i = 0; i < flavor->zone_count; i++) {
        const struct pool *pool = soldout_first(core, id, i, core->time_ms);
        if (pool != NULL) {
            change_pool_due(core, pool->id);
        }
    }
}

uint32_t soldout_place_in(const struct core *core, const struct pool *pool, uint32_t zone,
                          uint32_t *ret_of)
{
    uint32_t place = 0;
    *ret_of = 0;
    if (pool->sold_wait_ms == 0 || (pool->sold_zones >> zone & 1) == 0) {
        return 0;
    }
    for (const struct pool *at = soldout_line_next(core, pool->flavor, zone, NULL); at != NULL;
         at = soldout_line_next(core, pool->flavor, zone, at)) {
        ++*ret_of;
        place = at->id.v == pool->id.v ? *ret_of : place;
    }
    return place;
}

uint32_t soldout_place(const struct core *core, const struct pool *pool, uint32_t *ret_of)
{
    const struct flavor *flavor = query_flavor(core, pool->flavor);
    uint32_t best = 0;
    *ret_of = 0;
    for (uint32_t i = 0; flavor != NULL && i < flavor->zone_count; i++) {
        uint32_t of;
        const uint32_t place = soldout_place_in(core, pool, i, &of);
        if (place > 0 && (best == 0 || place < best)) {
            best = place;
            *ret_of = of;
        }
    }
    return best;
}

/* ---- other flavors ---- */

static bool is_large_enough(const struct flavor *flavor, const struct pool *pool)
{
    const uint32_t slots = flavor->gpus > 0 ? flavor->gpus : flavor->slots;
    return flavor->provider == pool->provider && slots >= pool->node_slots &&
           flavor->gpus >= pool->node_gpus && flavor->cpu_milli >= pool->node_cpu_milli &&
           flavor->memory_bytes >= pool->node_memory_bytes;
}

/* Is `a` cheaper than `b`? A flavor without a price is dearer than every price. */
static bool is_cheaper(const struct flavor *a, const struct flavor *b)
{
    return a->price_milli != 0 && (b->price_milli == 0 || a->price_milli < b->price_milli);
}

/* The open zones of the pool's own flavor in which the pool takes no nodes. */
static uint32_t own_zones(const struct core *core, const struct pool *pool, int64_t now_ms,
                          struct alternative ret[ALTERNATIVES_MAX])
{
    const struct flavor *flavor = query_flavor(core, pool->flavor);
    uint32_t count = 0;
    for (uint32_t i = 0; flavor != NULL && i < flavor->zone_count && count < ALTERNATIVES_MAX;
         i++) {
        if (pool->zoned && (pool->sold_zones >> i & 1) == 0 &&
            soldout_zone_open(&flavor->zones[i], now_ms)) {
            ret[count++] = (struct alternative){flavor->id, i};
        }
    }
    return count;
}

uint32_t soldout_alternatives(const struct core *core, const struct pool *pool, int64_t now_ms,
                              struct alternative ret[ALTERNATIVES_MAX])
{
    uint32_t count = own_zones(core, pool, now_ms, ret);
    const uint32_t own = count;
    for (const struct flavor *flavor = query_flavor_next(core, (flavor_id){0}); flavor != NULL;
         flavor = query_flavor_next(core, flavor->id)) {
        const int zone = flavor->id.v != pool->flavor.v && is_large_enough(flavor, pool)
                             ? soldout_open_zone(flavor, now_ms)
                             : -1;
        if (zone < 0) {
            continue;
        }
        uint32_t at = count;
        while (at > own && is_cheaper(flavor, query_flavor(core, ret[at - 1].flavor))) {
            at--;
        }
        if (at == ALTERNATIVES_MAX) {
            continue;
        }
        count += count < ALTERNATIVES_MAX;
        for (uint32_t i = count - 1; i > at; i--) {
            ret[i] = ret[i - 1];
        }
        ret[at] = (struct alternative){flavor->id, (uint32_t)zone};
    }
    return count;
}
