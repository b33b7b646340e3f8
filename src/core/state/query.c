/* query.c - reading the state.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core/state/query.h"

#include "base/bytes.h"
#include "base/must.h"
#include "base/str.h"
#include "core/model/blob.h"
#include "core/model/oindex.h"
#include "core/model/spec_codec.h"
#include "core/model/table.h"
#include "core/state/key.h"
#include "core/state/state.h"

#include <string.h>

/* The name at the beginning of a blob. Blobs of pools and nodes begin with the name and its NUL; the blob of
 * a resource is its name. */
static const char *blob_name(const struct blob *blob)
{
    return blob != NULL ? blob_bytes(blob).p : "";
}

uint64_t query_seq(const struct core *core)
{
    return core->seq;
}

uint64_t query_epoch(const struct core *core)
{
    return core->epoch;
}

const uint8_t *query_server_uuid(const struct core *core)
{
    return core->uuid;
}

int64_t query_time_ms(const struct core *core)
{
    return core->time_ms;
}

uint64_t query_named(const struct core *core, unsigned order, const char *name,
                     query_name_fn name_of)
{
    const uint64_t hash = key_name_hash(name);
    const struct oindex *names = &core->orders[order];
    struct okey key = {{hash}};
    must(order < ORDER_COUNT);
    for (bool more = oindex_from(names, key, &key); more && key.at[0] == hash;
         more = oindex_next(names, key, &key)) {
        if (strcmp(name_of(core, key.at[1]), name) == 0) {
            return key.at[1];
        }
    }
    return 0;
}

/* ---- pools ---- */

const struct pool *query_pool(const struct core *core, pool_id id)
{
    const struct pool *pool = table_get(&core->pools, id.v);
    return pool != NULL && !pool->deleted ? pool : NULL;
}

static const char *pool_name_of(const struct core *core, uint64_t id)
{
    return query_pool_name(core, (pool_id){(uint32_t)id});
}

const struct pool *query_pool_named(const struct core *core, const char *name)
{
    return table_get(&core->pools, query_named(core, ORDER_POOL_NAME, name, pool_name_of));
}

const char *query_default_pool(const struct core *core, enum pool_default which)
{
    must((unsigned)which < POOL_DEFAULT_COUNT);
    return blob_bytes(core->default_pools[which]).p;
}

const struct pool *query_pool_next(const struct core *core, pool_id after)
{
    for (uint64_t id = table_next(&core->pools, after.v); id != 0;
         id = table_next(&core->pools, id)) {
        const struct pool *pool = query_pool(core, (pool_id){(uint32_t)id});
        if (pool != NULL) {
            return pool;
        }
    }
    return NULL;
}

const char *query_pool_refusal(const struct pool *pool)
{
    return pool->refusal != NULL ? blob_bytes(pool->refusal).p : "";
}

const char *query_pool_replaced(const struct pool *pool)
{
    return pool->replaced != NULL ? blob_bytes(pool->replaced).p : "";
}

const char *query_pool_name(const struct core *core, pool_id id)
{
    const struct pool *pool = table_get(&core->pools, id.v);
    return pool != NULL ? blob_name(pool->text) : "";
}

static enum slot_type slot_type_of(const struct node *node)
{
    if (node->slots_milli == 0) {
        return SLOTS_NONE;
    }
    return node->device_count > 0 ? SLOTS_GPU : SLOTS_CPU;
}

void query_pool_figures(const struct core *core, pool_id id, struct pool_figures *ret)
{
    *ret = (struct pool_figures){0};
    for (const struct node *node = query_pool_node_next(core, id, (node_id){0}); node != NULL;
         node = query_pool_node_next(core, id, node->id)) {
        const enum slot_type type = slot_type_of(node);
        const bool goes = query_launch_goes(core, node);
        ret->nodes_total++;
        ret->nodes_up += node->state == NODE_UP;
        ret->nodes_silent += node->state == NODE_SILENT;
        ret->nodes_draining += node->draining != 0;
        ret->nodes_lost += node->state == NODE_LOST;
        ret->silent_stay += node->state == NODE_SILENT && !goes;
        ret->draining_stay += node->draining != 0 && !goes;
        ret->slots_used += node_slots_able(node) - node->slots_free;
        ret->aux_total += node->aux_max;
        ret->aux_used += node->aux_used;
        if (node_takes_work(node) && node->aux_used < node->aux_max) {
            ret->aux_free += node->aux_max - node->aux_used;
        }
        if (type != SLOTS_NONE && type != ret->slot_type) {
            ret->slot_type = ret->slot_type == SLOTS_NONE ? type : SLOTS_MIXED;
        }
    }
}

const struct node *query_pool_node_next(const struct core *core, pool_id pool, node_id after)
{
    struct okey key = {{pool.v, after.v, UINT64_MAX, UINT64_MAX}};
    if (!oindex_next(&core->orders[ORDER_POOL_NODE], key, &key) || key.at[0] != pool.v) {
        return NULL;
    }
    return query_node(core, (node_id){(uint32_t)key.at[1]});
}

/* ---- nodes ---- */

const struct node *query_node(const struct core *core, node_id id)
{
    return table_get(&core->nodes, id.v);
}

static const char *node_name_of(const struct core *core, uint64_t id)
{
    return query_node_name(core, (node_id){(uint32_t)id});
}

const struct node *query_node_named(const struct core *core, const char *name)
{
    return table_get(&core->nodes, query_named(core, ORDER_NODE_NAME, name, node_name_of));
}

const struct node *query_node_next(const struct core *core, node_id after)
{
    for (uint64_t id = table_next(&core->nodes, after.v); id != 0;
         id = table_next(&core->nodes, id)) {
        const struct node *node = query_node(core, (node_id){(uint32_t)id});
        if (node->state != NODE_REMOVED) {
            return node;
        }
    }
    return NULL;
}

const char *query_node_name(const struct core *core, node_id id)
{
    const struct node *node = query_node(core, id);
    return node != NULL ? blob_name(node->text) : "";
}

const struct instance *query_node_instance_next(const struct core *core, node_id node,
                                                struct attempt_key *cursor)
{
    struct okey key = {{node.v, cursor->task.v, cursor->index, UINT64_MAX}};
    if (!oindex_next(&core->orders[ORDER_ON_NODE], key, &key) || key.at[0] != node.v) {
        return NULL;
    }
    const struct instance *instance = query_instance_row(core, key.at[3]);
    *cursor = (struct attempt_key){instance->task, instance->index, instance->attempt};
    return instance;
}

/* ---- resources ---- */

const char *query_resource_name(const struct core *core, resource_id id)
{
    if (id.v == RESOURCE_GPU_MEMORY) {
        return "gpu_memory";
    }
    return id.v < core->resource_count ? blob_name(core->resources[id.v]) : "";
}

bool query_resource_named(const struct core *core, const char *name, resource_id *ret)
{
    for (uint32_t i = 0; i < core->resource_count; i++) {
        if (strcmp(blob_name(core->resources[i]), name) == 0) {
            *ret = (resource_id){(uint16_t)i};
            return true;
        }
    }
    return false;
}

uint32_t query_resource_count(const struct core *core)
{
    return core->resource_count;
}

int64_t query_deadline(const struct core *core)
{
    int64_t earliest = INT64_MAX;
    uint64_t row = table_next(&core->keys, 0);
    if (row != 0) {
        earliest =
            ((const struct submit_key *)table_get(&core->keys, row))->time_ms + SUBMIT_KEY_MS;
    }
    struct okey key = {{0}};
    if (oindex_from(&core->orders[ORDER_DEADLINE], key, &key) && (int64_t)key.at[0] < earliest) {
        earliest = (int64_t)key.at[0];
    }
    return earliest;
}

/* The pools that are due, as far as the search has come: the first of all, and the first behind the pool of the last pass. */
struct due_search {
    uint64_t last;
    uint64_t first;
    uint64_t behind;
};

static void due_found(struct due_search *search, uint64_t pool)
{
    if (search->first == 0 || pool < search->first) {
        search->first = pool;
    }
    if (pool > search->last && (search->behind == 0 || pool < search->behind)) {
        search->behind = pool;
    }
}

/* All pools take turns: pools behind the pool of the last pass come first. Looks only at pools that are due. */
bool query_pass_due(const struct core *core, int64_t now_ms, pool_id *ret)
{
    struct due_search search = {.last = core->due_last.v};
    const struct oindex *due = &core->orders[ORDER_POOL_DUE];
    const struct oindex *deadlines = &core->orders[ORDER_DEADLINE];
    struct okey key;
    if (oindex_from(due, (struct okey){{0}}, &key)) {
        due_found(&search, key.at[0]);
    }
    if (oindex_from(due, (struct okey){{search.last + 1, 0, 0, 0}}, &key)) {
        due_found(&search, key.at[0]);
    }
    for (bool more = oindex_from(deadlines, (struct okey){{0}}, &key);
         more && (int64_t)key.at[0] <= now_ms; more = oindex_next(deadlines, key, &key)) {
        if (key.at[1] == DEADLINE_WAKE) {
            due_found(&search, key.at[2]);
        }
    }
    const uint64_t found = search.behind != 0 ? search.behind : search.first;
    if (found == 0) {
        return false;
    }
    ret->v = (uint32_t)found;
    return true;
}

/* ---- specs ---- */

/* Defines X_spec(), which decodes the spec that stands behind the name in the blob of an object. */
#define SPEC_OF(X)                                                                                 \
    static void X##_spec(const struct blob *text, struct arena *arena, struct X##_spec *ret)       \
    {                                                                                              \
        struct bytes_reader in;                                                                    \
        blob_reader(text, &in);                                                                    \
        spec_codec_##X##_decode(&in, arena, ret);                                                  \
        must(bytes_reader_ok(&in));                                                                \
    }
SPEC_OF(pool)
SPEC_OF(node)
SPEC_OF(account)
SPEC_OF(flavor)
SPEC_OF(network)

void query_pool_spec(const struct core *core, pool_id id, struct arena *arena,
                     struct pool_spec *ret)
{
    const struct pool *pool = table_get(&core->pools, id.v);
    must(pool != NULL);
    pool_spec(pool->text, arena, ret);
}

void query_node_spec(const struct core *core, node_id id, struct arena *arena,
                     struct node_spec *ret)
{
    const struct node *node = query_node(core, id);
    must(node != NULL);
    node_spec(node->text, arena, ret);
    ret->pool = query_pool_name(core, node->pool);
}

void query_account_spec(const struct core *core, account_id id, struct arena *arena,
                        struct account_spec *ret)
{
    const struct account *account = query_account(core, id);
    must(account != NULL);
    account_spec(account->text, arena, ret);
    ret->parent = query_account_name(core, account->parent);
}

void query_flavor_spec(const struct core *core, flavor_id id, struct arena *arena,
                       struct flavor_spec *ret)
{
    const struct flavor *flavor = query_flavor(core, id);
    must(flavor != NULL);
    flavor_spec(flavor->text, arena, ret);
}

void query_network_spec(const struct core *core, network_id id, struct arena *arena,
                        struct network_spec *ret)
{
    const struct network *network = query_network(core, id);
    must(network != NULL);
    network_spec(network->text, arena, ret);
}
