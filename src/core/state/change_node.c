/* change_node.c - opening and closing node rows; the facts that set a node and its state.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/arena.h"
#include "base/buf.h"
#include "base/checked.h"
#include "base/must.h"
#include "core/model/blob.h"
#include "core/model/label.h"
#include "core/model/limits.h"
#include "core/model/node.h"
#include "core/model/oindex.h"
#include "core/model/pool.h"
#include "core/model/resource.h"
#include "core/model/spec.h"
#include "core/model/spec_codec.h"
#include "core/model/table.h"
#include "core/model/task.h"
#include "core/model/vector.h"
#include "core/state/capacity.h"
#include "core/state/change.h"
#include "core/state/elastic.h"
#include "core/state/fact.h"
#include "core/state/key.h"
#include "core/state/life.h"
#include "core/state/membership.h"
#include "core/state/query.h"
#include "core/state/state.h"
#include "core/state/topology.h"

#include <string.h>

struct node *change_node_open(struct core *core, node_id id, struct node *ret_before)
{
    struct node *node = table_edit(&core->nodes, id.v);
    must(node != NULL);
    *ret_before = *node;
    return node;
}

static int64_t slots_usable(const struct node *node)
{
    return node_takes_work(node) && node->slots_free > 0 ? node->slots_free : 0;
}

static void pool_count_node(struct pool *pool, const struct node *node, int sign)
{
    if (node->state == NODE_REMOVED) {
        return;
    }
    pool->node_count = (uint32_t)((int64_t)pool->node_count + sign);
    pool->spare_count = (uint32_t)((int64_t)pool->spare_count + (node_stands_by(node) ? sign : 0));
    pool->node_lost = (uint32_t)((int64_t)pool->node_lost + (node->state == NODE_LOST ? sign : 0));
    pool->slots_milli = i64_add(pool->slots_milli, sign * node->slots_milli);
    pool->slots_free = i64_add(pool->slots_free, sign * slots_usable(node));
    if (node_takes_work(node)) {
        vector_sum_add(&pool->usable[DIM_SLOTS], node_slots_able(node), sign);
        vector_sum_add(&pool->usable[DIM_CPU], node->cpu_milli, sign);
        vector_sum_add(&pool->usable[DIM_MEMORY], node->memory_bytes, sign);
    }
}

/* Have the members changed from which the pool's sums are computed? */
static bool pool_counts_differ(const struct node *node, const struct node *before)
{
    return node->pool.v != before->pool.v || node->state != before->state ||
           node->draining != before->draining || node->troubled != before->troubled ||
           node->spare != before->spare || (node->pool_next.v != 0) != (before->pool_next.v != 0) ||
           node->slots_milli != before->slots_milli || node->cpu_milli != before->cpu_milli ||
           node->memory_bytes != before->memory_bytes || node->devices_out != before->devices_out ||
           slots_usable(node) != slots_usable(before);
}

static bool changing(const struct node *node)
{
    return node->leaving_count > 0 || node->claim_count > 0;
}

static void changing_update(struct core *core, const struct node *node, const struct node *before)
{
    struct oindex *order = &core->orders[ORDER_NODE_CHANGING];
    if (changing(node) == changing(before) && node->pool.v == before->pool.v) {
        return;
    }
    must(!changing(before) || oindex_remove(order, (struct okey){{before->pool.v, before->id.v}}));
    must(!changing(node) || oindex_insert(order, (struct okey){{node->pool.v, node->id.v}}));
}

static bool memory_known(const struct node *node)
{
    return node->id.v != 0 && node->state != NODE_REMOVED && node->gpu_memory_bytes > 0;
}

static void gpu_memory_update(struct core *core, const struct node *node, const struct node *before)
{
    struct oindex *order = &core->orders[ORDER_GPU_MEMORY];
    struct okey old = {{before->pool.v, (uint64_t)before->gpu_memory_bytes, before->id.v, 0}};
    struct okey new = {{node->pool.v, (uint64_t)node->gpu_memory_bytes, node->id.v, 0}};
    if (memory_known(before) == memory_known(node) && memcmp(&old, &new, sizeof old) == 0) {
        return;
    }
    must(!memory_known(before) || oindex_remove(order, old));
    must(!memory_known(node) || oindex_insert(order, new));
}

static bool counts(const struct node *node)
{
    return node->id.v != 0 && node->state != NODE_REMOVED;
}

static void size_update(struct core *core, const struct node *node, const struct node *before)
{
    struct oindex *order = &core->orders[ORDER_NODE_SIZE];
    if (counts(node) == counts(before) && node->pool.v == before->pool.v &&
        node->slots_milli == before->slots_milli) {
        return;
    }
    must(!counts(before) || oindex_remove(order, key_node_size(before)));
    must(!counts(node) || oindex_insert(order, key_node_size(node)));
}

static void overhang_update(struct node *node)
{
    bool overhang = node->slots_free < 0 || node->cpu_free < 0 || node->memory_free < 0 ||
                    node->aux_used > node->aux_max;
    for (uint32_t i = 0; i < node->named_count; i++) {
        overhang = overhang || node->named_free[i] < 0;
    }
    must(node->overhang || !overhang); /* P1: only a node that became smaller has an overhang */
    node->overhang = overhang;
}

void change_node_close(struct core *core, struct node *node, const struct node *before)
{
    overhang_update(node);
    bool was_there = before->id.v != 0;
    if (!was_there || pool_counts_differ(node, before)) {
        if (was_there) {
            pool_count_node(change_pool_edit(core, before->pool), before, -1);
        }
        pool_count_node(change_pool_edit(core, node->pool), node, 1);
    }
    if (was_there && before->pool.v != node->pool.v) {
        life_update(core, before->pool);
    }
    if (!was_there || before->pool.v != node->pool.v || before->state != node->state) {
        life_update(core, node->pool);
    }
    changing_update(core, node, before);
    gpu_memory_update(core, node, before);
    size_update(core, node, before);
    if (core->capacity != NULL) {
        capacity_changed(core->capacity, was_there ? before : NULL, node);
    }
    elastic_node_close(core, node, before);
    membership_node_close(core, node, before);
}

static void named_change(struct node *node, const struct request *request, int sign)
{
    uint32_t at = 0;
    for (uint32_t i = 0; i < request->named_count; i++) {
        while (at < node->named_count &&
               node->named[at].resource.v < request->named[i].resource.v) {
            at++;
        }
        if (at < node->named_count && node->named[at].resource.v == request->named[i].resource.v) {
            node->named_free[at] = i64_add(node->named_free[at], sign * request->named[i].milli);
        }
    }
}

/* Changes the free part of each device that the instance holds. A device that the node no longer has is left
 * out. */
static void devices_change(struct node *node, const struct instance *instance, int sign)
{
    int64_t each = device_share(instance->slots_milli, instance->devices);
    for (uint64_t bits = instance->devices & ~node->devices_out; bits != 0; bits &= bits - 1) {
        unsigned device = (unsigned)__builtin_ctzll(bits);
        if (device >= node->device_count) {
            return;
        }
        int64_t free = node->device_free[device] + sign * each;
        must(free >= 0); /* P1: no more of a device is taken than is free */
        must(free <= SLOT_MILLI);
        node->device_free[device] = (uint16_t)free;
    }
}

static void hold_change(struct node *node, const struct instance *instance,
                        const struct request *request, int sign)
{
    const int64_t slots =
        node_slots_held(node->devices_out, instance->slots_milli, instance->devices);
    node->slots_free = i64_sub(node->slots_free, sign * slots);
    node->cpu_free = i64_sub(node->cpu_free, sign * instance->cpu_milli);
    node->memory_free = i64_sub(node->memory_free, sign * instance->memory_bytes);
    if (instance->slots_milli == 0) {
        node->aux_used = (uint32_t)((int64_t)node->aux_used + sign);
    }
    node->instance_count = (uint32_t)((int64_t)node->instance_count + sign);
    if (instance->state == INSTANCE_STOPPING) {
        node->leaving_count = (uint32_t)((int64_t)node->leaving_count + sign);
    }
    named_change(node, request, -sign);
    devices_change(node, instance, -sign);
}

void change_node_allocate(struct node *node, const struct instance *instance,
                          const struct request *request)
{
    hold_change(node, instance, request, 1);
}

void change_node_release(struct node *node, const struct instance *instance,
                         const struct request *request)
{
    must(node->instance_count > 0);
    hold_change(node, instance, request, -1);
}

void change_node_recount(const struct core *core, struct node *node)
{
    node->slots_free = node_slots_able(node);
    node->cpu_free = node->cpu_milli;
    node->memory_free = node->memory_bytes;
    node->aux_used = 0;
    node->instance_count = 0;
    node->leaving_count = 0;
    for (uint32_t i = 0; i < node->named_count; i++) {
        node->named_free[i] = node->named[i].milli;
    }
    memset(node->device_free, 0, sizeof node->device_free);
    for (uint32_t i = 0; i < node->device_count; i++) {
        node->device_free[i] = (node->devices_out >> i & 1) != 0 ? 0 : SLOT_MILLI;
    }
    struct attempt_key cursor = {0};
    const struct instance *instance;
    while ((instance = query_node_instance_next(core, node->id, &cursor)) != NULL) {
        const struct task *task = query_task(core, instance->task);
        must(task != NULL);
        change_node_allocate(node, instance, query_task_request(core, task, instance->index));
    }
}

void change_node_text_set(struct node *node, const struct node_spec *spec)
{
    struct buf text;
    buf_init(&text, TASK_SPEC_BYTES_MAX);
    buf_add(&text, spec->name, strlen(spec->name) + 1);
    spec_codec_node_encode(spec, &text);
    must(!text.full);
    blob_unref(node->text);
    node->text = blob_new(text.data, text.len);
    buf_done(&text);
    blob_unref(node->labels);
    node->labels = label_marks_blob(spec->labels, spec->label_count);
}

void change_node_slots_set(const struct core *core, struct node *node)
{
    struct arena arena;
    struct node_spec spec;
    arena_init(&arena);
    query_node_spec(core, node->id, &arena, &spec);
    const uint32_t most = pool_slots_most(table_get(&core->pools, node->pool.v));
    const int64_t most_milli = (int64_t)most * SLOT_MILLI;
    node->slots_milli = spec.slots_milli < most_milli ? spec.slots_milli : most_milli;
    node->device_count = spec.device_count < most ? spec.device_count : most;
    node->devices_out = spec.devices_out & node_devices_all(node);
    arena_done(&arena);
}

static void node_named_set(const struct core *core, struct node *node, const struct node_spec *spec)
{
    memset(node->named, 0, sizeof node->named);
    memset(node->named_free, 0, sizeof node->named_free);
    must(spec->resource_count <= NODE_RESOURCES_MAX);
    node->named_count = spec->resource_count;
    for (uint32_t i = 0; i < spec->resource_count; i++) {
        resource_id id;
        must(query_resource_named(core, spec->resources[i].name, &id));
        uint32_t at = i;
        for (; at > 0 && node->named[at - 1].resource.v > id.v; at--) {
            node->named[at] = node->named[at - 1];
        }
        node->named[at].resource = id;
        node->named[at].milli = spec->resources[i].milli;
    }
}

static struct node *node_create(struct core *core, node_id id, const struct fact *fact)
{
    must(id.v == core->nodes.last + 1);
    struct node *node = table_add(&core->nodes);
    node->id = id;
    node->state = NODE_SILENT;
    core->node_count++;
    must(oindex_insert(&core->orders[ORDER_NODE_NAME],
                       (struct okey){{key_name_hash(fact->node_set.spec->name), id.v}}));
    must(oindex_insert(&core->orders[ORDER_POOL_NODE],
                       (struct okey){{fact->node_set.pool.v, id.v}}));
    return node;
}

void change_node_move(struct core *core, struct node *node, pool_id to)
{
    if (node->pool.v == to.v) {
        return;
    }
    must(node->instance_count == 0);
    struct oindex *order = &core->orders[ORDER_POOL_NODE];
    must(oindex_remove(order, (struct okey){{node->pool.v, node->id.v}}));
    must(oindex_insert(order, (struct okey){{to.v, node->id.v}}));
    node->pool = to;
    node->spare = 0;
    node->aux_max = change_pool_edit(core, to)->aux_tasks;
}

void change_node_set(struct core *core, const struct fact *fact)
{
    const struct node_spec *spec = fact->node_set.spec;
    node_id id = fact->node_set.node;
    struct node before = {0};
    struct node *node;
    change_claim_drop_node(core, id);
    if (query_node(core, id) == NULL) {
        node = node_create(core, id, fact);
    } else {
        node = change_node_open(core, id, &before);
        must(node->state != NODE_REMOVED);
        membership_node_leave(core, node);
        change_node_move(core, node, fact->node_set.pool);
    }
    must(fact->node_set.incarnation >= node->incarnation);
    must(fact->node_set.incarnation == node->incarnation || node->instance_count == 0);
    node->pool = fact->node_set.pool;
    node->incarnation = fact->node_set.incarnation;
    node->cpu_milli = spec->cpu_milli;
    node->memory_bytes = spec->memory_bytes;
    node->gpu_memory_bytes = spec->gpu_memory_bytes;
    memcpy(node->supervisor, spec->supervisor, sizeof node->supervisor);
    node->aux_max = change_pool_edit(core, node->pool)->aux_tasks;
    node->troubled = spec->trouble != NULL && spec->trouble[0] != '\0';
    node->follows_labels = spec->follows_labels;
    node_named_set(core, node, spec);
    change_node_text_set(node, spec);
    change_node_slots_set(core, node);
    membership_node_join(core, node);
    topology_node_set(core, node);
    change_node_recount(core, node);
    node->overhang = 1; /* an overhang is allowed here; closing finds out whether there is one */
    change_node_close(core, node, &before);
    change_pool_relabelled(core, node->pool);
    change_pool_due(core, node->pool);
}

void change_node_state(struct core *core, const struct fact *fact)
{
    change_claim_drop_node(core, fact->node_state.node);
    struct node before;
    struct node *node = change_node_open(core, fact->node_state.node, &before);
    must(node->state != NODE_REMOVED);
    if (fact->node_state.state == NODE_REMOVED) {
        membership_node_leave(core, node);
    }
    node->state = (uint8_t)fact->node_state.state;
    if (node->state == NODE_LOST && before.state != NODE_LOST && node->launch.v != 0) {
        change_pool_edit(core, node->pool)->life.replaced++;
    }
    if (node->state == NODE_REMOVED) {
        node->removed_ms = fact->time_ms;
        node->spare = 0;
        must(node->instance_count == 0);
        node->pool_next.v = 0;
        node->selector_matches = 0;
        uint64_t hash = key_name_hash(query_node_name(core, node->id));
        must(oindex_remove(&core->orders[ORDER_NODE_NAME], (struct okey){{hash, node->id.v}}));
        must(oindex_remove(&core->orders[ORDER_POOL_NODE],
                           (struct okey){{node->pool.v, node->id.v}}));
        topology_node_leave(core, node);
        core->node_count--;
    }
    change_node_close(core, node, &before);
    change_pool_due(core, node->pool);
}
