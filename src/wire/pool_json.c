/* pool_json.c - the pool and node objects.
 * SPDX-License-Identifier: Apache-2.0 */
#include "wire/pool_json.h"

#include "wire/attempt_key.h"
#include "wire/part_json.h"
#include "wire/reason_text.h"
#include "wire/time_text.h"

/* NULL: there are none, or of several types. */
static const char *slot_type_name(enum slot_type type)
{
    return type == SLOTS_CPU ? "cpu" : type == SLOTS_GPU ? "gpu" : NULL;
}

static void accepts_json(struct json_out *j, uint32_t accepts)
{
    json_out_key(j, "accepts");
    json_out_array(j);
    for (int kind = 0; kind < TASK_KIND_COUNT; kind++) {
        if ((accepts >> kind & 1) != 0) {
            json_out_text(j, names_task_kind((enum task_kind)kind));
        }
    }
    json_out_end(j);
}

/* null: its shares do not look back. */
static void history_json(struct json_out *j, const struct pool *pool)
{
    json_out_key(j, "history");
    if (pool->history_half_life_ms == 0 && pool->history_window_ms == 0) {
        json_out_null(j);
        return;
    }
    json_out_object(j);
    json_out_kv_i64(j, "half_life_ms", pool->history_half_life_ms);
    json_out_kv_i64(j, "window_ms", pool->history_window_ms);
    json_out_kv_milli(j, "factor", pool->history_factor);
    json_out_end(j);
}

static void scheduler_json(struct json_out *j, const struct pool *pool)
{
    json_out_key(j, "scheduler");
    json_out_object(j);
    json_out_kv_text(j, "policy", names_pool_policy(pool->policy));
    json_out_kv_text(j, "placement", names_pool_placement(pool->placement));
    json_out_kv_text(j, "victims", names_pool_victims(pool->victims));
    json_out_kv_text(j, "order", names_pool_order(pool->order));
    json_out_kv_text(j, "preemption", pool->preemption_off ? "off" : "on");
    json_out_kv_text(j, "uneven", pool->uneven_off ? "off" : "on");
    json_out_kv_u64(j, "consolidation", pool->consolidation_max);
    json_out_key(j, "stale_grace_ms");
    if (pool->stale_grace_ms == STALE_GRACE_NEVER) {
        json_out_null(j);
    } else {
        json_out_i64(j, pool->stale_grace_ms);
    }
    json_out_kv_i64(j, "preempt_min_runtime_ms", pool->preempt_min_runtime_ms);
    json_out_kv_i64(j, "reclaim_min_runtime_ms", pool->reclaim_min_runtime_ms);
    json_out_kv_i64(j, "preempt_delay_ms", pool->preempt_delay_ms);
    json_out_key(j, "user_slots");
    if (pool->user_slots_max == 0) {
        json_out_null(j);
    } else {
        json_out_milli(j, pool->user_slots_max);
    }
    history_json(j, pool);
    json_out_end(j);
}

void pool_json(struct json_out *j, const struct core *core, const struct pool *pool,
               struct arena *arena)
{
    struct pool_spec spec;
    struct pool_figures figures;
    query_pool_figures(core, pool->id, &figures);
    query_pool_spec(core, pool->id, arena, &spec);
    json_out_object(j);
    json_out_kv_text(j, "name", query_pool_name(core, pool->id));
    json_out_kv_text(j, "title", spec.title);
    json_out_kv_text(j, "description", spec.description);
    json_out_kv_bool(j, "paused", pool->paused != 0);
    accepts_json(j, pool->accepts);
    json_out_kv_i64(j, "patience_ms", pool->patience_ms);
    json_out_kv_u64(j, "aux_tasks", pool->aux_tasks);
    part_json_texts(j, "topology", spec.topology, spec.topology_count);
    scheduler_json(j, pool);
    json_out_key(j, "nodes");
    json_out_object(j);
    json_out_kv_u64(j, "total", figures.nodes_total);
    json_out_kv_u64(j, "up", figures.nodes_up);
    json_out_kv_u64(j, "draining", figures.nodes_draining);
    json_out_kv_u64(j, "lost", figures.nodes_lost);
    json_out_end(j);
    json_out_key(j, "slots");
    json_out_object(j);
    json_out_kv_milli(j, "total", pool->slots_milli);
    json_out_kv_milli(j, "free", pool->slots_free);
    json_out_kv_milli(j, "used", figures.slots_used);
    json_out_end(j);
    json_out_kv_text(j, "slot_type", slot_type_name(figures.slot_type));
    json_out_key(j, "aux");
    json_out_object(j);
    json_out_kv_u64(j, "total", figures.aux_total);
    json_out_kv_u64(j, "free", figures.aux_free);
    json_out_kv_u64(j, "used", figures.aux_used);
    json_out_end(j);
    json_out_key(j, "tasks");
    json_out_object(j);
    json_out_kv_u64(j, "pending", pool->pending_count);
    json_out_kv_u64(j, "running", pool->running_count);
    json_out_end(j);
    part_json_u64_or_null(j, "reserved_task", pool->reserved[0].task.v);
    json_out_key(j, "reservations");
    json_out_array(j);
    for (uint32_t i = 0; i < pool->reserved_count; i++) {
        json_out_object(j);
        json_out_kv_u64(j, "task", pool->reserved[i].task.v);
        time_text_json(j, "until", pool->reserved[i].until_ms);
        json_out_end(j);
    }
    json_out_end(j);
    part_json_u64_or_null(j, "blocked_task", pool->blocked_task.v);
    time_text_json(j, "created_at", pool->created_ms);
    json_out_end(j);
}

static void total_free_json(struct json_out *j, const char *key, resource_id resource,
                            int64_t total, int64_t free)
{
    json_out_key(j, key);
    json_out_object(j);
    json_out_key(j, "total");
    reason_text_amount_json(j, resource, total);
    json_out_key(j, "free");
    reason_text_amount_json(j, resource, free);
    json_out_end(j);
}

static void node_resources_json(struct json_out *j, const struct core *core,
                                const struct node *node)
{
    json_out_key(j, "resources");
    json_out_object(j);
    total_free_json(j, "slots", (resource_id){RESOURCE_SLOTS}, node->slots_milli, node->slots_free);
    total_free_json(j, "cpu", (resource_id){RESOURCE_CPU}, node->cpu_milli, node->cpu_free);
    total_free_json(j, "memory", (resource_id){RESOURCE_MEMORY}, node->memory_bytes,
                    node->memory_free);
    for (uint32_t i = 0; i < node->named_count; i++) {
        total_free_json(j, query_resource_name(core, node->named[i].resource),
                        node->named[i].resource, node->named[i].milli, node->named_free[i]);
    }
    json_out_end(j);
    json_out_key(j, "devices");
    json_out_array(j);
    for (uint32_t i = 0; i < node->device_count; i++) {
        json_out_object(j);
        json_out_kv_u64(j, "index", i);
        json_out_kv_milli(j, "free", node->device_free[i]);
        json_out_end(j);
    }
    json_out_end(j);
}

static void node_tasks_json(struct json_out *j, const struct core *core, const struct node *node)
{
    struct attempt_key key = {0};
    json_out_key(j, "tasks");
    json_out_array(j);
    for (uint32_t i = 0; i < NODE_JSON_TASKS_MAX; i++) {
        if (query_node_instance_next(core, node->id, &key) == NULL) {
            break;
        }
        char text[ATTEMPT_KEY_TEXT_MAX];
        (void)attempt_key_text(key, text);
        json_out_text(j, text);
    }
    json_out_end(j);
}

void node_json(struct json_out *j, const struct core *core, const struct node *node,
               struct arena *arena)
{
    struct node_spec spec;
    query_node_spec(core, node->id, arena, &spec);
    json_out_object(j);
    json_out_kv_text(j, "name", query_node_name(core, node->id));
    json_out_kv_text(j, "pool", query_pool_name(core, node->pool));
    json_out_kv_text(j, "state", names_node_state((enum node_state)node->state));
    json_out_kv_bool(j, "draining", node->draining != 0);
    part_json_labels(j, "labels", spec.labels, spec.label_count);
    node_resources_json(j, core, node);
    json_out_key(j, "aux");
    json_out_object(j);
    json_out_kv_u64(j, "max", node->aux_max);
    json_out_kv_u64(j, "used", node->aux_used);
    json_out_end(j);
    json_out_kv_u64(j, "incarnation", node->incarnation);
    json_out_kv_text(j, "address", spec.address);
    json_out_kv_text(j, "version", spec.version);
    node_tasks_json(j, core, node);
    json_out_end(j);
}
