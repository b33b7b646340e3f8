/* flavor_json.c - see flavor_json.h. SPDX-License-Identifier: Apache-2.0 */
#include "wire/flavor_json.h"

#include "base/amount.h"
#include "core/model/object.h"
#include "core/state/soldout.h"
#include "wire/object_json.h"
#include "wire/part_json.h"

#include <string.h>

/* ---- JSON ---- */

static void sold_out_json(struct json_out *j, const struct core *core, const struct flavor *flavor)
{
    json_out_put(j, "sold_out:[");
    for (uint32_t i = 0; i < flavor->zone_count; i++) {
        const struct flavor_zone *zone = &flavor->zones[i];
        if (!soldout_zone_open(zone, query_time_ms(core))) {
            json_out_put(j, "{zone:%s,since:%td,retry_at:%td,asking:%i,why:%s}",
                         query_flavor_zone(flavor, i), zone->since_ms, zone->retry_ms,
                         zone->probe.v != 0, names_provider_why((enum provider_why)zone->why));
        }
    }
    json_out_end(j);
}

void flavor_json(struct json_out *j, const struct core *core, const struct flavor *flavor,
                 struct arena *arena)
{
    struct flavor_spec spec;
    query_flavor_spec(core, flavor->id, arena, &spec);
    json_out_put(j, "{name:%s", spec.name);
    object_json_fields(j, &flavor_object, GROUP_TOP, &spec);
    json_out_put(j, "pools:[");
    for (const struct pool *pool = query_flavor_pool_next(core, flavor->id, (pool_id){0});
         pool != NULL; pool = query_flavor_pool_next(core, flavor->id, pool->id)) {
        json_out_text(j, query_pool_name(core, pool->id));
    }
    json_out_end(j);
    sold_out_json(j, core, flavor);
    json_out_put(j, "line:[");
    for (uint32_t i = 0; i < flavor->zone_count; i++) {
        for (const struct pool *pool = soldout_line_next(core, flavor->id, i, NULL); pool != NULL;
             pool = soldout_line_next(core, flavor->id, i, pool)) {
            json_out_put(j, "{zone:%s,pool:%s,nodes:%u,since:%td}", query_flavor_zone(flavor, i),
                         query_pool_name(core, pool->id), pool->sold_nodes, pool->sold_wait_ms);
        }
    }
    json_out_put(j, "],spec:");
    object_json_flavor(j, &spec);
    json_out_end(j);
}

void flavor_json_price(struct json_out *j, const struct core *core, const struct pool *pool,
                       struct arena *arena)
{
    struct flavor_spec spec = {.currency = ""};
    if (pool->flavor.v != 0) {
        query_flavor_spec(core, pool->flavor, arena, &spec);
    }
    json_out_put(j, "price:%.3ld,currency:%s", spec.price_milli, spec.currency);
}

static void line_json(struct json_out *j, const struct core *core, const struct pool *pool)
{
    uint32_t of;
    const uint32_t place = soldout_place(core, pool, &of);
    json_out_key(j, "line");
    if (place == 0) {
        json_out_null(j);
        return;
    }
    json_out_put(j, "{place:%u,of:%u,nodes:%u,since:%td,retry_at:%td,zones:[", place, of,
                 pool->sold_nodes, pool->sold_wait_ms, soldout_asked_ms(core, pool));
    const struct flavor *flavor = query_flavor(core, pool->flavor);
    for (uint32_t i = 0; i < flavor->zone_count; i++) {
        const uint32_t there = soldout_place_in(core, pool, i, &of);
        if (there > 0) {
            json_out_put(j, "{zone:%s,place:%u,of:%u}", query_flavor_zone(flavor, i), there, of);
        }
    }
    json_out_end(j);
    json_out_end(j);
}

static void alternatives_json(struct json_out *j, const struct core *core, const struct pool *pool,
                              struct arena *arena)
{
    struct alternative found[ALTERNATIVES_MAX];
    const uint32_t count =
        pool->sold_nodes > 0 ? soldout_alternatives(core, pool, query_time_ms(core), found) : 0;
    json_out_put(j, "alternatives:[");
    for (uint32_t i = 0; i < count; i++) {
        const struct flavor *flavor = query_flavor(core, found[i].flavor);
        struct flavor_spec spec;
        query_flavor_spec(core, flavor->id, arena, &spec);
        json_out_put(j, "{flavor:%s,zone:%s,price:%.3ld,currency:%s}", spec.name,
                     query_flavor_zone(flavor, found[i].zone), spec.price_milli, spec.currency);
    }
    json_out_end(j);
}

void flavor_json_market(struct json_out *j, const struct core *core, const struct pool *pool,
                        struct arena *arena)
{
    const struct flavor *flavor = query_flavor(core, pool->flavor);
    struct flavor_spec spec;
    json_out_key(j, "market");
    if (flavor == NULL) {
        json_out_null(j);
        return;
    }
    query_flavor_spec(core, flavor->id, arena, &spec);
    json_out_put(j, "{slots:%u,gpus:%u,cpu:%.3ld,memory:%ld,", pool->node_slots, pool->node_gpus,
                 pool->node_cpu_milli, pool->node_memory_bytes);
    flavor_json_price(j, core, pool, arena);
    json_out_put(j, "spot:%i", spec.spot);
    part_json_texts(j, "zones", spec.zones, spec.zone_count);
    sold_out_json(j, core, flavor);
    line_json(j, core, pool);
    alternatives_json(j, core, pool, arena);
    json_out_end(j);
}

/* ---- a sentence ---- */

static void span_add(struct buf *out, int64_t ms)
{
    char text[AMOUNT_TEXT_MAX];
    /* Whole seconds: nobody waits for the rest. */
    amount_duration_text(ms < 1000 ? 1000 : ms / 1000 * 1000, text);
    buf_add_str(out, text);
}

static void zones_text(const struct core *core, const struct flavor *flavor, struct buf *out)
{
    const int64_t now_ms = query_time_ms(core);
    const char *between = " (";
    for (uint32_t i = 0; i < flavor->zone_count; i++) {
        const struct flavor_zone *zone = &flavor->zones[i];
        if (soldout_zone_open(zone, now_ms)) {
            continue;
        }
        const char *name = query_flavor_zone(flavor, i);
        buf_addf(out, "%s%s%sfor ", between, name, name[0] != '\0' ? " " : "");
        span_add(out, now_ms - zone->since_ms);
        between = ", ";
    }
    if (between[0] == ',') {
        buf_add_str(out, ")");
    }
}

static void alternatives_text(const struct core *core, const struct pool *pool, struct buf *out)
{
    struct alternative found[ALTERNATIVES_MAX];
    const uint32_t count = soldout_alternatives(core, pool, query_time_ms(core), found);
    struct arena arena;
    arena_init(&arena);
    for (uint32_t i = 0; i < count; i++) {
        const struct flavor *flavor = query_flavor(core, found[i].flavor);
        const char *zone = query_flavor_zone(flavor, found[i].zone);
        struct flavor_spec spec;
        query_flavor_spec(core, flavor->id, &arena, &spec);
        buf_addf(out, "%s '%s'", i == 0 ? "; not sold out: flavor" : ",", spec.name);
        if (zone[0] != '\0') {
            buf_addf(out, " in %s", zone);
        }
        if (spec.price_milli > 0) {
            char price[AMOUNT_TEXT_MAX];
            amount_milli_text(spec.price_milli, price);
            buf_addf(out, " for %s%s%s an hour", price, spec.currency[0] != '\0' ? " " : "",
                     spec.currency);
        }
    }
    arena_done(&arena);
}

void flavor_json_text(const struct core *core, const struct pool *pool, struct buf *out)
{
    const struct flavor *flavor = query_flavor(core, pool->flavor);
    if (flavor == NULL) {
        return;
    }
    uint32_t of;
    const uint32_t place = soldout_place(core, pool, &of);
    const int64_t asked_ms = soldout_asked_ms(core, pool);
    const int64_t now_ms = query_time_ms(core);
    zones_text(core, flavor, out);
    if (place > 0) {
        buf_addf(out, "; the pool waits for %u node%s", pool->sold_nodes,
                 pool->sold_nodes == 1 ? "" : "s");
        if (of > 1) {
            buf_addf(out, " and is number %u of %u pools in line", place, of);
        }
    }
    if (asked_ms > now_ms) {
        buf_add_str(out, "; the provider is asked again in ");
        span_add(out, asked_ms - now_ms);
    } else {
        buf_add_str(out, "; the provider is being asked again");
    }
    alternatives_text(core, pool, out);
}
