/* pool_json.c - writes the pool object.
 * SPDX-License-Identifier: Apache-2.0 */
#include "wire/pool_json.h"

#include "wire/object_json.h"
#include "wire/part_json.h"

/* NULL: the pool has no slots, or slots of several types. */
static const char *slot_type_name(enum slot_type type)
{
    return type == SLOTS_CPU ? "cpu" : type == SLOTS_GPU ? "gpu" : NULL;
}

/* Writes the settings of usage history; null: shares of the pool do not depend on past use. */
static void history_json(struct json_out *j, const struct pool_spec *spec)
{
    json_out_key(j, "history");
    if (spec->history_half_life_ms == 0 && spec->history_window_ms == 0) {
        json_out_null(j);
        return;
    }
    json_out_object(j);
    object_json_fields(j, &pool_object, GROUP_HISTORY, spec);
    json_out_end(j);
}

/* Writes the fields that users set. */
static void said_json(struct json_out *j, const struct pool_spec *spec)
{
    json_out_kv_text(j, "name", spec->name);
    object_json_fields(j, &pool_object, GROUP_TOP, spec);
    object_json_accepts(j, spec->accepts);
    part_json_texts(j, "topology", spec->topology, spec->topology_count);
    json_out_key(j, "scheduler");
    json_out_object(j);
    object_json_fields(j, &pool_object, GROUP_SCHEDULER, spec);
    history_json(j, spec);
    json_out_end(j);
    json_out_key(j, "spec");
    object_json_pool(j, spec);
}

void pool_json(struct json_out *j, const struct core *core, const struct pool *pool,
               struct arena *arena)
{
    struct pool_spec spec;
    struct pool_figures figures;
    query_pool_figures(core, pool->id, &figures);
    query_pool_spec(core, pool->id, arena, &spec);
    json_out_object(j);
    said_json(j, &spec);
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
        json_out_kv_time(j, "until", pool->reserved[i].until_ms);
        json_out_end(j);
    }
    json_out_end(j);
    part_json_u64_or_null(j, "blocked_task", pool->blocked_task.v);
    json_out_kv_time(j, "created_at", pool->created_ms);
    json_out_end(j);
}
