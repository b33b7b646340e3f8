/* pool_json.c - the pool object.
 * SPDX-License-Identifier: Apache-2.0 */
#include "wire/pool_json.h"

#include "wire/part_json.h"
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
