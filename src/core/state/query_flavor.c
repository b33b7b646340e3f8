/* query_flavor.c - reading flavors. SPDX-License-Identifier: Apache-2.0 */
#include "base/bytes.h"
#include "base/must.h"
#include "core/model/blob.h"
#include "core/model/oindex.h"
#include "core/model/spec_codec.h"
#include "core/model/table.h"
#include "core/state/key.h"
#include "core/state/query.h"
#include "core/state/state.h"

#include <string.h>

const struct flavor *query_flavor(const struct core *core, flavor_id id)
{
    return table_get(&core->flavors, id.v);
}

static const char *flavor_name_of(const struct core *core, uint64_t id)
{
    return query_flavor_name(core, (flavor_id){(uint32_t)id});
}

const struct flavor *query_flavor_named(const struct core *core, const char *name)
{
    return table_get(&core->flavors, query_named(core, ORDER_FLAVOR_NAME, name, flavor_name_of));
}

const struct flavor *query_flavor_next(const struct core *core, flavor_id after)
{
    return table_get(&core->flavors, table_next(&core->flavors, after.v));
}

const char *query_flavor_name(const struct core *core, flavor_id id)
{
    const struct flavor *flavor = query_flavor(core, id);
    return flavor != NULL ? blob_bytes(flavor->text).p : "";
}

const char *query_flavor_zone(const struct flavor *flavor, uint32_t zone)
{
    must(zone < flavor->zone_count);
    const char *name = blob_bytes(flavor->zone_names).p;
    for (uint32_t i = 0; i < zone; i++) {
        name += strlen(name) + 1;
    }
    return name;
}

int query_flavor_zone_named(const struct flavor *flavor, const char *name)
{
    const char *at = blob_bytes(flavor->zone_names).p;
    for (uint32_t i = 0; i < flavor->zone_count; i++) {
        if (strcmp(at, name) == 0) {
            return (int)i;
        }
        at += strlen(at) + 1;
    }
    return -1;
}

const struct pool *query_flavor_pool_next(const struct core *core, flavor_id id, pool_id after)
{
    struct okey key = {{id.v, after.v, UINT64_MAX, UINT64_MAX}};
    if (!oindex_next(&core->orders[ORDER_FLAVOR_POOL], key, &key) || key.at[0] != id.v) {
        return NULL;
    }
    return query_pool(core, (pool_id){(uint32_t)key.at[1]});
}
