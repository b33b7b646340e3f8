/* network_json.c - see network_json.h. SPDX-License-Identifier: Apache-2.0 */
#include "wire/network_json.h"

#include "core/model/object.h"
#include "wire/object_json.h"
#include "wire/part_json.h"

void network_json(struct json_out *j, const struct core *core, const struct network *network,
                  struct arena *arena)
{
    struct network_spec spec;
    pool_id first_pool;
    task_id first_task;
    query_network_spec(core, network->id, arena, &spec);
    json_out_put(j, "{name:%s", spec.name);
    object_json_fields(j, &network_object, GROUP_TOP, &spec);
    part_json_texts(j, "for", spec.guests, spec.guest_count);
    json_out_put(j, "pools:[");
    for (const struct pool *pool = query_pool_next(core, (pool_id){0}); pool != NULL;
         pool = query_pool_next(core, pool->id)) {
        if (!pool->deleted && pool->network.v == network->id.v) {
            json_out_text(j, query_pool_name(core, pool->id));
        }
    }
    json_out_put(
        j, "],uses:%u,spec:", query_network_uses(core, network->id, &first_pool, &first_task));
    object_json_network(j, &spec);
    json_out_end(j);
}
