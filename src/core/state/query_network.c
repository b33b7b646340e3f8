/* query_network.c - reading networks. SPDX-License-Identifier: Apache-2.0 */
#include "base/bytes.h"
#include "base/must.h"
#include "core/model/blob.h"
#include "core/model/network.h"
#include "core/model/pool.h"
#include "core/model/spec_codec.h"
#include "core/model/table.h"
#include "core/model/task.h"
#include "core/state/query.h"
#include "core/state/state.h"

#include <string.h>

const struct network *query_network(const struct core *core, network_id id)
{
    return table_get(&core->networks, id.v);
}

const struct network *query_network_next(const struct core *core, network_id after)
{
    return table_get(&core->networks, table_next(&core->networks, after.v));
}

/* At most NETWORKS_MAX rows, so looking at all of them is cheap enough. */
const struct network *query_network_named(const struct core *core, const char *name)
{
    const struct network *network = query_network_next(core, (network_id){0});
    while (network != NULL && strcmp(query_network_name(core, network->id), name) != 0) {
        network = query_network_next(core, network->id);
    }
    return network;
}

const char *query_network_name(const struct core *core, network_id id)
{
    if (id.v == NETWORK_ID_HOST.v) {
        return NETWORK_HOST;
    }
    if (id.v == NETWORK_ID_ISOLATED.v) {
        return NETWORK_ISOLATED;
    }
    const struct network *network = query_network(core, id);
    return network != NULL ? blob_bytes(network->text).p : "";
}

network_id query_network_said(const struct core *core, const char *name)
{
    if (name == NULL || name[0] == '\0') {
        return (network_id){0};
    }
    if (strcmp(name, NETWORK_HOST) == 0) {
        return NETWORK_ID_HOST;
    }
    const struct network *network = query_network_named(core, name);
    /* A name that is gone closes the task in, and never opens the node's network to it. */
    return network != NULL ? network->id : NETWORK_ID_ISOLATED;
}

network_id query_network_of(const struct core *core, const struct task *task)
{
    const struct pool *pool = query_pool(core, task->pool);
    if (pool != NULL && pool->network.v != 0) {
        return pool->network;
    }
    return task->network.v != 0 ? task->network : NETWORK_ID_HOST;
}

uint32_t query_network_uses(const struct core *core, network_id id, pool_id *ret_pool,
                            task_id *ret_task)
{
    uint32_t count = 0;
    *ret_pool = (pool_id){0};
    *ret_task = (task_id){0};
    for (const struct pool *pool = query_pool_next(core, (pool_id){0}); pool != NULL;
         pool = query_pool_next(core, pool->id)) {
        if (!pool->deleted && pool->network.v == id.v) {
            *ret_pool = count == 0 ? pool->id : *ret_pool;
            count++;
        }
    }
    for (const struct task *task = query_task_next(core, (task_id){0}); task != NULL;
         task = query_task_next(core, task->id)) {
        if (task->network.v == id.v && !task_state_ended(task->state)) {
            *ret_task = ret_task->v == 0 ? task->id : *ret_task;
            count++;
        }
    }
    return count;
}
