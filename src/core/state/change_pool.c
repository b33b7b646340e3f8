/* change_pool.c - pool rows: blocked and reserved tasks, wake-ups; the facts that set and delete a pool.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/buf.h"
#include "base/must.h"
#include "core/model/blob.h"
#include "core/model/limits.h"
#include "core/model/node.h"
#include "core/model/oindex.h"
#include "core/model/pool.h"
#include "core/model/spec.h"
#include "core/model/spec_codec.h"
#include "core/model/table.h"
#include "core/model/task.h"
#include "core/state/access.h"
#include "core/state/capacity.h"
#include "core/state/change.h"
#include "core/state/elastic.h"
#include "core/state/fact.h"
#include "core/state/fallback.h"
#include "core/state/gang.h"
#include "core/state/history.h"
#include "core/state/key.h"
#include "core/state/life.h"
#include "core/state/membership.h"
#include "core/state/query.h"
#include "core/state/state.h"
#include "core/state/topology.h"

#include <string.h>

struct pool *change_pool_edit(struct core *core, pool_id id)
{
    struct pool *pool = table_edit(&core->pools, id.v);
    must(pool != NULL);
    return pool;
}

void change_pool_due_set(struct core *core, pool_id id, bool due)
{
    const struct pool *row = table_get(&core->pools, id.v);
    must(row != NULL);
    if ((row->due != 0) == due) {
        return;
    }
    const struct okey key = {{id.v, 0, 0, 0}};
    struct pool *pool = change_pool_edit(core, id);
    pool->due = due;
    if (!pool->deleted) {
        must(due ? oindex_insert(&core->orders[ORDER_POOL_DUE], key)
                 : oindex_remove(&core->orders[ORDER_POOL_DUE], key));
    }
}

void change_pool_due(struct core *core, pool_id id)
{
    change_pool_due_set(core, id, true);
}

/* Marks a task as reserved or not. The task's place in the queue of its project may change. */
static void reserved_mark(struct core *core, pool_id pool, task_id id, uint8_t reserved)
{
    struct oindex *order = &core->orders[ORDER_ACCOUNT_QUEUE];
    struct task *task = fallback_row_edit(core, pool, id);
    must(task != NULL);
    must(task->pool.v == pool.v);
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
    pool->reserved_count = (uint8_t)count;
    memset(pool->reserved, 0, sizeof pool->reserved);
    for (uint32_t i = 0; i < count; i++) {
        pool->reserved[i] = list[i];
    }
    for (uint32_t i = 0; i < before.reserved_count; i++) {
        if (!pool_has_reserved(pool, before.reserved[i].task)) {
            reserved_mark(core, id, before.reserved[i].task, 0);
        }
    }
    for (uint32_t i = 0; i < count; i++) {
        if (!query_task_in(core, id, list[i].task)->reserved) {
            reserved_mark(core, id, list[i].task, 1);
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

void change_pool_freed(struct core *core, pool_id pool)
{
    if (core->capacity != NULL) {
        capacity_freed(core->capacity, pool);
    }
    change_pool_due(core, pool);
}

void change_pool_relabelled(struct core *core, pool_id pool)
{
    if (core->capacity != NULL) {
        capacity_resized(core->capacity, pool);
    }
    change_pool_freed(core, pool);
}

static void pool_text_set(struct pool *pool, const struct pool_spec *spec)
{
    struct buf text;
    buf_init(&text, TASK_SPEC_BYTES_MAX);
    buf_add(&text, spec->name, strlen(spec->name) + 1);
    spec_codec_pool_encode(spec, &text);
    must(!text.full);
    blob_unref(pool->text);
    pool->text = blob_new(text.data, text.len);
    buf_done(&text);
}

static void pool_aux_set(struct core *core, pool_id pool, uint32_t aux_max)
{
    node_id after = {0};
    const struct node *found;
    while ((found = query_pool_node_next(core, pool, after)) != NULL) {
        after = found->id;
        change_claim_drop_node(core, found->id);
        struct node before;
        struct node *node = change_node_open(core, found->id, &before);
        node->overhang = node->overhang || aux_max < node->aux_used;
        node->aux_max = aux_max;
        change_node_close(core, node, &before);
    }
}

/* Gives every node of the pool the slots that the pool lets it have. */
static void pool_slots_set(struct core *core, pool_id pool)
{
    node_id after = {0};
    const struct node *found;
    while ((found = query_pool_node_next(core, pool, after)) != NULL) {
        after = found->id;
        change_claim_drop_node(core, found->id);
        struct node before;
        struct node *node = change_node_open(core, found->id, &before);
        change_node_slots_set(core, node);
        change_node_recount(core, node);
        node->overhang =
            1; /* an overhang is allowed here; closing finds out whether there is one */
        change_node_close(core, node, &before);
    }
    change_pool_freed(core, pool);
}

/* Computes the domains of all nodes of a pool after its levels changed. Gangs that fitted nowhere may fit
 * now. */
static void pool_domains_set(struct core *core, pool_id pool)
{
    node_id after = {0};
    const struct node *found;
    while ((found = query_pool_node_next(core, pool, after)) != NULL) {
        after = found->id;
        change_claim_drop_node(core, found->id);
        topology_node_set(core, table_edit(&core->nodes, found->id.v));
    }
    if (core->capacity != NULL) {
        capacity_freed(core->capacity, pool);
        capacity_resized(core->capacity, pool);
    }
}

/* Opens and closes every queued task of a pool, so that the queue gets the pool's new order. */
static void queue_turn(struct core *core, pool_id id)
{
    struct okey key = {{id.v, 0, 0, 0}};
    bool more = oindex_from(&core->orders[ORDER_QUEUE], key, &key);
    while (more && key.at[0] == id.v) {
        struct task_mark mark;
        struct task *task = change_task_open(core, (task_id){key.at[3]}, &mark);
        change_task_close(core, task, &mark);
        more = oindex_next(&core->orders[ORDER_QUEUE], key, &key);
    }
}

/* A provider that was changed may be asked again at once. */
static void provider_set(struct core *core, struct pool *pool, const struct pool_spec *spec)
{
    must(pool->launch_count == 0 || pool->provider == spec->provider);
    pool->provider = spec->provider;
    pool->nodes_min = spec->nodes_fixed > 0 ? spec->nodes_fixed : spec->nodes_min;
    pool->nodes_max = spec->nodes_fixed > 0 ? spec->nodes_fixed : spec->nodes_max;
    pool->headroom = spec->headroom;
    pool->node_slots = spec->node_gpus > 0 ? spec->node_gpus : spec->node_slots;
    pool->node_gpus = spec->node_gpus;
    pool->node_idle_ms = spec->node_idle_ms;
    pool->max_starting_ms = spec->max_starting_ms;
    pool->node_cpu_milli = spec->node_cpu_milli;
    pool->node_memory_bytes = spec->node_memory_bytes;
    change_flavor_pool_set(core, pool, spec->flavor != NULL ? spec->flavor : "");
    change_flavor_pool_zones(core, pool, spec);
    pool->network = query_network_said(core, spec->network);
    pool->grow_period_ms = spec->grow_period_ms;
    pool->spare_nodes = spec->spare_nodes;
    elastic_joined(core, pool->id);
    elastic_shrink_update(core, pool->id);
    elastic_replace_update(core, pool->id);
}

void change_pool_set(struct core *core, const struct fact *fact)
{
    const struct pool_spec *spec = fact->pool_set.spec;
    pool_id id = fact->pool_set.pool;
    struct pool *pool = table_edit(&core->pools, id.v);
    if (pool == NULL) {
        must(id.v == core->pools.last + 1);
        pool = table_add(&core->pools);
        pool->id = id;
        pool->created_ms = fact->time_ms;
        core->pool_count++;
        must(oindex_insert(&core->orders[ORDER_POOL_NAME],
                           (struct okey){{key_name_hash(spec->name), id.v}}));
    }
    must(!pool->deleted);
    pool_text_set(pool, spec);
    pool->patience_ms = spec->patience_ms;
    pool->paused = spec->paused;
    pool->placement = (uint8_t)spec->placement;
    pool->victims = (uint8_t)spec->victims;
    pool->preemption_off = spec->preemption_off;
    pool->consolidation_max = spec->consolidation_max;
    gang_pool_grace_set(core, pool, spec->stale_grace_ms);
    pool->preempt_min_runtime_ms = spec->preempt_min_runtime_ms;
    pool->reclaim_min_runtime_ms = spec->reclaim_min_runtime_ms;
    pool->preemption_delay_ms = spec->preemption_delay_ms;
    pool->user_slots_max = spec->user_slots_max;
    pool->uneven_off = spec->uneven_off;
    pool->turn_ms = spec->turn_ms;
    pool->idle_warn_ms = spec->idle_warn_ms;
    pool->idle_after_ms = spec->idle_after_ms;
    pool->idle_action = spec->idle_action;
    if (pool->idle_for_waiting != spec->idle_for_waiting) {
        pool->idle = (struct bucket){0}; /* another budget begins full */
    }
    if (pool->loss_for_sharing != spec->loss_for_sharing) {
        pool->loss = (struct bucket){0};
    }
    pool->idle_for_waiting = spec->idle_for_waiting;
    pool->loss_for_sharing = spec->loss_for_sharing;
    pool->history_half_life_ms = spec->history_half_life_ms;
    pool->history_window_ms = spec->history_window_ms;
    pool->history_factor = spec->history_factor;
    if (!history_looks_back(pool)) {
        history_drop(core, pool);
    } else if (pool->running_count > 0) {
        history_start(core, id, fact->time_ms);
    }
    const bool turned = pool->order != spec->order || pool->policy != spec->policy;
    pool->order = (uint8_t)spec->order;
    pool->policy = (uint8_t)spec->policy;
    provider_set(core, pool, spec);
    bool aux_changed = pool->aux_tasks != spec->aux_tasks;
    bool levels_changed = topology_levels_set(pool, spec);
    pool->aux_tasks = spec->aux_tasks;
    if (pool->slots_per_node != spec->slots_per_node) {
        pool->slots_per_node = spec->slots_per_node;
        pool_slots_set(core, id);
    }
    if (aux_changed) {
        pool_aux_set(core, id, spec->aux_tasks);
    }
    if (levels_changed) {
        pool_domains_set(core, id);
    }
    if (turned) {
        queue_turn(core, id);
    }
    membership_pool_set(core, id, spec);
    access_pool_set(core, id, spec);
    life_update(core, id);
    change_pool_due(core, id);
}

void change_pool_replacement_set(struct core *core, pool_id id, const struct replacement *row,
                                 const char *words)
{
    struct pool *pool = change_pool_edit(core, id);
    pool->replacement = *row;
    blob_unref(pool->replaced);
    pool->replaced = words[0] != '\0' ? blob_new(words, strlen(words) + 1) : NULL;
    elastic_replace_update(core, id);
}

/* The tasks of a deleted pool go to another pool that they name, or stay with task state `unavailable`. */
void change_pool_delete(struct core *core, const struct fact *fact)
{
    pool_id id = fact->pool_deleted.pool;
    struct pool *pool = change_pool_edit(core, id);
    must(!pool->deleted);
    must(pool->node_count == 0);
    change_pool_reserved_set(core, id, NULL, 0);
    change_pool_wake_set(core, pool, 0);
    change_flavor_pool_set(core, pool, "");
    history_drop(core, pool);
    membership_pool_set(core, id, NULL);
    change_pool_due_set(core, pool->id, false);
    pool->deleted = 1;
    elastic_replace_update(core, id);
    core->pool_count--;
    uint64_t hash = key_name_hash(query_pool_name(core, id));
    must(oindex_remove(&core->orders[ORDER_POOL_NAME], (struct okey){{hash, id.v}}));
    life_phase_set(core, id, PHASE_OPEN, 0);
    life_tasks_turn(core, id);
}

void change_pool_defaults(struct core *core, const struct fact *fact)
{
    for (unsigned i = 0; i < POOL_DEFAULT_COUNT; i++) {
        const char *name = fact->defaults_set.pools[i];
        must(name[0] != '\0');
        blob_unref(core->default_pools[i]);
        core->default_pools[i] = blob_new(name, strlen(name) + 1);
    }
}
