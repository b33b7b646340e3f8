/* node_json.c - writes the node object.
 * SPDX-License-Identifier: Apache-2.0 */
#include "wire/node_json.h"

#include "wire/attempt_key.h"
#include "wire/part_json.h"
#include "wire/reason_text.h"

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
