/* change_flavor.c - the rows of flavors, and what their pools take from them.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/buf.h"
#include "base/must.h"
#include "core/model/blob.h"
#include "core/model/oindex.h"
#include "core/model/pool_zones.h"
#include "core/model/spec_codec.h"
#include "core/model/table.h"
#include "core/state/change.h"
#include "core/state/elastic.h"
#include "core/state/fact.h"
#include "core/state/key.h"
#include "core/state/query.h"
#include "core/state/soldout.h"

#include <string.h>

struct flavor *change_flavor_edit(struct core *core, flavor_id id)
{
    struct flavor *flavor = table_edit(&core->flavors, id.v);
    must(flavor != NULL);
    return flavor;
}

static void text_set(struct flavor *flavor, const struct flavor_spec *spec)
{
    struct buf text;
    buf_init(&text, TASK_SPEC_BYTES_MAX);
    buf_add(&text, spec->name, strlen(spec->name) + 1);
    spec_codec_flavor_encode(spec, &text);
    must(!text.full);
    blob_unref(flavor->text);
    flavor->text = blob_new(text.data, text.len);
    buf_done(&text);
}

/* A flavor without zones has one zone without a name. */
static void zones_set(struct flavor *flavor, const struct flavor_spec *spec)
{
    static const char *const nowhere[] = {""};
    const uint32_t count = spec->zone_count > 0 ? spec->zone_count : 1;
    const char *const *zones = spec->zone_count > 0 ? spec->zones : nowhere;
    struct flavor_zone kept[FLAVOR_ZONES_MAX] = {0};
    struct buf names;
    buf_init(&names, FLAVOR_ZONES_MAX * (NAME_LEN_MAX + 1));
    for (uint32_t i = 0; i < count; i++) {
        const int before =
            flavor->zone_names != NULL ? query_flavor_zone_named(flavor, zones[i]) : -1;
        if (before >= 0) {
            kept[i] = flavor->zones[before];
        }
        buf_add(&names, zones[i], strlen(zones[i]) + 1);
    }
    must(!names.full);
    blob_unref(flavor->zone_names);
    flavor->zone_names = blob_new(names.data, names.len);
    buf_done(&names);
    flavor->zone_count = count;
    memcpy(flavor->zones, kept, sizeof kept);
}

static void amounts_take(struct pool *pool, const struct flavor *flavor)
{
    pool->node_slots = flavor->gpus > 0 ? flavor->gpus : flavor->slots;
    pool->node_gpus = flavor->gpus;
    pool->node_cpu_milli = flavor->cpu_milli;
    pool->node_memory_bytes = flavor->memory_bytes;
}

/* Says how many nodes the pool wants in each zone of its flavor. */
static void zones_read(struct core *core, pool_id id)
{
    struct arena arena;
    struct pool_spec spec;
    arena_init(&arena);
    query_pool_spec(core, id, &arena, &spec);
    change_flavor_pool_zones(core, change_pool_edit(core, id), &spec);
    arena_done(&arena);
}

void change_flavor_pool_zones(const struct core *core, struct pool *pool,
                              const struct pool_spec *spec)
{
    const struct flavor *flavor = query_flavor(core, pool->flavor);
    memset(pool->zone_wants, 0, sizeof pool->zone_wants);
    pool->zoned = flavor != NULL && spec->zone_count > 0;
    for (uint32_t i = 0; pool->zoned && i < flavor->zone_count; i++) {
        pool->zone_wants[i] = pool_zones_in(spec, query_flavor_zone(flavor, i));
    }
}

void change_flavor_set(struct core *core, const struct fact *fact)
{
    const struct flavor_spec *spec = fact->flavor_set.spec;
    const flavor_id id = fact->flavor_set.flavor;
    struct flavor *flavor = table_edit(&core->flavors, id.v);
    if (flavor == NULL) {
        flavor = table_put(&core->flavors, id.v);
        flavor->id = id;
        must(oindex_insert(&core->orders[ORDER_FLAVOR_NAME],
                           (struct okey){{key_name_hash(spec->name), id.v}}));
    }
    text_set(flavor, spec);
    soldout_lines_leave(core, id);
    zones_set(flavor, spec);
    soldout_lines_join(core, id);
    flavor->provider = spec->provider;
    flavor->slots = spec->slots;
    flavor->gpus = spec->gpus;
    flavor->spot = spec->spot;
    flavor->cpu_milli = spec->cpu_milli;
    flavor->memory_bytes = spec->memory_bytes;
    flavor->price_milli = spec->price_milli;
    pool_id at = {0};
    for (const struct pool *pool = query_flavor_pool_next(core, id, at); pool != NULL;
         pool = query_flavor_pool_next(core, id, at)) {
        at = pool->id;
        amounts_take(change_pool_edit(core, at), flavor);
        zones_read(core, at);
        elastic_shrink_update(core, at);
        change_pool_due(core, at);
    }
}

void change_flavor_delete(struct core *core, const struct fact *fact)
{
    const flavor_id id = fact->flavor_deleted.flavor;
    const struct flavor *flavor = query_flavor(core, id);
    must(flavor != NULL);
    must(flavor->pool_count == 0);
    const uint64_t hash = key_name_hash(query_flavor_name(core, id));
    must(oindex_remove(&core->orders[ORDER_FLAVOR_NAME], (struct okey){{hash, id.v}}));
    table_remove(&core->flavors, id.v);
}

static void pool_unlink(struct core *core, struct pool *pool)
{
    soldout_wait_set(core, pool->id, 0, 0, 0);
    must(oindex_remove(&core->orders[ORDER_FLAVOR_POOL],
                       (struct okey){{pool->flavor.v, pool->id.v}}));
    change_flavor_edit(core, pool->flavor)->pool_count--;
    pool->flavor.v = 0;
}

void change_flavor_pool_set(struct core *core, struct pool *pool, const char *name)
{
    const struct flavor *flavor = name[0] != '\0' ? query_flavor_named(core, name) : NULL;
    const flavor_id id = flavor != NULL ? flavor->id : (flavor_id){0};
    if (pool->flavor.v != 0 && pool->flavor.v != id.v) {
        pool_unlink(core, pool);
    }
    if (id.v == 0) {
        return;
    }
    amounts_take(pool, flavor);
    if (pool->flavor.v == 0) {
        must(oindex_insert(&core->orders[ORDER_FLAVOR_POOL], (struct okey){{id.v, pool->id.v}}));
        change_flavor_edit(core, id)->pool_count++;
        pool->flavor = id;
    }
    soldout_next_due(core, id); /* a pool that pauses lets the next pool pass */
}
