/* change_node.c - opening and closing node and pool rows.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core/state/change.h"

#include "base/checked.h"
#include "base/must.h"

/* ---- pools ---- */

struct pool *change_pool_edit(struct core *core, pool_id id)
{
    struct pool *pool = table_edit(&core->pools, id.v);
    must(pool != NULL);
    return pool;
}

void change_pool_due(struct core *core, pool_id id)
{
    change_pool_edit(core, id)->due = 1;
}

static bool patience_key(const struct pool *pool, struct okey *ret)
{
    const int64_t at_ms = pool_patience_ms(pool);
    *ret = (struct okey){{(uint64_t)at_ms, DEADLINE_PATIENCE, pool->id.v, 0}};
    return at_ms != INT64_MAX;
}

void change_pool_patience_drop(struct core *core, const struct pool *pool)
{
    struct okey key;
    if (patience_key(pool, &key)) {
        must(oindex_remove(&core->orders[ORDER_DEADLINE], key));
    }
}

void change_pool_patience_put(struct core *core, const struct pool *pool)
{
    struct okey key;
    if (patience_key(pool, &key)) {
        must(oindex_insert(&core->orders[ORDER_DEADLINE], key));
    }
}

void change_pool_blocked_set(struct core *core, struct pool *pool, task_id blocked,
                             int64_t since_ms, int64_t more_ms)
{
    change_pool_patience_drop(core, pool);
    pool->blocked_task = blocked;
    pool->blocked_since_ms = blocked.v != 0 ? since_ms : 0;
    pool->blocked_more_ms = blocked.v != 0 ? more_ms : 0;
    change_pool_patience_put(core, pool);
}

/* Only its place in the queue follows from it. */
static void reserved_mark(struct core *core, task_id id, uint8_t reserved)
{
    struct oindex *order = &core->orders[ORDER_ACCOUNT_QUEUE];
    struct task *task = table_edit(&core->tasks, id.v);
    must(task != NULL);
    must(task->queued);
    const struct okey before = key_account_queue(task);
    task->reserved = reserved;
    const struct okey after = key_account_queue(task);
    if (oindex_key_compare(before, after) != 0) {
        must(oindex_remove(order, before));
        must(oindex_insert(order, after));
        change_pool_due(core, task->pool);
    }
}

void change_pool_reserved_set(struct core *core, pool_id id, const struct reservation *list,
                              uint32_t count)
{
    must(count <= RESERVATIONS_MAX);
    struct pool *pool = change_pool_edit(core, id);
    const struct pool before = *pool;
    change_pool_patience_drop(core, pool);
    pool->reserved_count = (uint8_t)count;
    memset(pool->reserved, 0, sizeof pool->reserved);
    for (uint32_t i = 0; i < count; i++) {
        pool->reserved[i] = list[i];
    }
    change_pool_patience_put(core, pool);
    for (uint32_t i = 0; i < before.reserved_count; i++) {
        if (!pool_has_reserved(pool, before.reserved[i].task)) {
            reserved_mark(core, before.reserved[i].task, 0);
        }
    }
    for (uint32_t i = 0; i < count; i++) {
        if (!query_task(core, list[i].task)->reserved) {
            reserved_mark(core, list[i].task, 1);
        }
    }
}

void change_pool_wake_set(struct core *core, struct pool *pool, int64_t at_ms)
{
    struct oindex *order = &core->orders[ORDER_DEADLINE];
    struct okey old = {{(uint64_t)pool->wake_ms, DEADLINE_WAKE, pool->id.v, 0}};
    struct okey new = {{(uint64_t)at_ms, DEADLINE_WAKE, pool->id.v, 0}};
    must(pool->wake_ms == 0 || oindex_remove(order, old));
    must(at_ms == 0 || oindex_insert(order, new));
    pool->wake_ms = at_ms;
}

/* ---- nodes ---- */

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
    pool->slots_milli = i64_add(pool->slots_milli, sign * node->slots_milli);
    pool->slots_free = i64_add(pool->slots_free, sign * slots_usable(node));
    if (node_takes_work(node)) {
        vector_sum_add(&pool->usable[DIM_SLOTS], node->slots_milli, sign);
        vector_sum_add(&pool->usable[DIM_CPU], node->cpu_milli, sign);
        vector_sum_add(&pool->usable[DIM_MEMORY], node->memory_bytes, sign);
    }
}

/* Only where slots or membership changed is there anything to count anew. */
static bool pool_counts_differ(const struct node *node, const struct node *before)
{
    return node->pool.v != before->pool.v || node->state != before->state ||
           node->draining != before->draining || node->slots_milli != before->slots_milli ||
           node->cpu_milli != before->cpu_milli || node->memory_bytes != before->memory_bytes ||
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
    must(node->overhang || !overhang); /* P1: only a node that became smaller has one */
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
    changing_update(core, node, before);
    gpu_memory_update(core, node, before);
    size_update(core, node, before);
    if (core->capacity != NULL) {
        capacity_changed(core->capacity, was_there ? before : NULL, node);
    }
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

/* A share of each device, or each of them whole. A device that the node no longer has is gone. */
static void devices_change(struct node *node, const struct instance *instance, int sign)
{
    int64_t each = device_share(instance->slots_milli, instance->devices);
    for (uint64_t bits = instance->devices; bits != 0; bits &= bits - 1) {
        unsigned device = (unsigned)__builtin_ctzll(bits);
        if (device >= node->device_count) {
            return;
        }
        int64_t free = node->device_free[device] + sign * each;
        must(free >= 0); /* P1 */
        must(free <= SLOT_MILLI);
        node->device_free[device] = (uint16_t)free;
    }
}

static void hold_change(struct node *node, const struct instance *instance,
                        const struct request *request, int sign)
{
    node->slots_free = i64_sub(node->slots_free, sign * instance->slots_milli);
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
    node->slots_free = node->slots_milli;
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
        node->device_free[i] = SLOT_MILLI;
    }
    struct attempt_key cursor = {0};
    const struct instance *instance;
    while ((instance = query_node_instance_next(core, node->id, &cursor)) != NULL) {
        const struct task *task = query_task(core, instance->task);
        must(task != NULL);
        change_node_allocate(node, instance, query_task_request(core, task, instance->index));
    }
}
