/* part_json.c - pieces of JSON that several objects have.
 * SPDX-License-Identifier: Apache-2.0 */
#include "wire/part_json.h"

#include <inttypes.h>
#include <stdio.h>

void part_json_labels(struct json_out *j, const char *key, const struct label *labels,
                      uint32_t count)
{
    json_out_key(j, key);
    json_out_object(j);
    for (uint32_t i = 0; i < count; i++) {
        json_out_kv_text(j, labels[i].key, labels[i].value);
    }
    json_out_end(j);
}

void part_json_texts(struct json_out *j, const char *key, const char *const *texts, uint32_t count)
{
    json_out_key(j, key);
    json_out_array(j);
    for (uint32_t i = 0; i < count; i++) {
        json_out_text(j, texts[i]);
    }
    json_out_end(j);
}

void part_json_devices(struct json_out *j, const char *key, uint64_t devices)
{
    json_out_key(j, key);
    json_out_array(j);
    for (; devices != 0; devices &= devices - 1) {
        json_out_u64(j, (uint64_t)__builtin_ctzll(devices));
    }
    json_out_end(j);
}

void part_json_amount(struct json_out *j, const char *key, resource_id resource, int64_t amount)
{
    const bool bytes = resource.v == RESOURCE_MEMORY || resource.v == RESOURCE_GPU_MEMORY;
    (bytes ? json_out_kv_i64 : json_out_kv_milli)(j, key, amount);
}

void part_json_bound(struct json_out *j, const char *key, resource_id resource, int64_t bound)
{
    if (bound == QUOTA_UNLIMITED) {
        json_out_kv_text(j, key, NULL);
    } else {
        part_json_amount(j, key, resource, bound);
    }
}

void part_json_request(struct json_out *j, const struct core *core, const struct request *request)
{
    /* A request with slots gets cpu and memory along with the slots, unless it names an amount;
     * there 0 is an amount that was named. Without slots 0 means that nothing was named. */
    const int64_t least = request_has_slots(request) ? 0 : 1;
    /* A request for parts of several devices was written for each device, and the sum is stored. */
    const int64_t parts = request->share_devices > 0 ? request->share_devices : 1;
    bool other = request->cpu_milli >= least || request->memory_bytes >= least ||
                 request->gpu_memory_bytes > 0 || request->named_count > 0;
    json_out_put(j, "resources:{");
    if (request->slots_milli > 0 || !other) {
        json_out_kv_milli(j, request->needs_gpu ? "gpu" : "slots", request->slots_milli / parts);
    }
    if (parts > 1) {
        json_out_kv_i64(j, "gpu_devices", parts);
    }
    if (request->gpu_memory_bytes > 0) {
        json_out_kv_i64(j, "gpu_memory", request->gpu_memory_bytes);
    }
    if (request->cpu_milli >= least) {
        json_out_kv_milli(j, "cpu", request->cpu_milli);
    }
    if (request->memory_bytes >= least) {
        json_out_kv_i64(j, "memory", request->memory_bytes);
    }
    for (uint32_t i = 0; i < request->named_count; i++) {
        json_out_kv_milli(j, query_resource_name(core, request->named[i].resource),
                          request->named[i].milli);
    }
    json_out_end(j);
}

void part_json_asks(struct json_out *j, const struct task_spec *spec)
{
    json_out_put(j, "resources:{");
    if (spec->slots_milli != ASK_NOTHING) {
        /* A choice of devices implies "gpu"; writing "gpu" again changes nothing. */
        json_out_kv_milli(j, spec->needs_gpu ? "gpu" : "slots", spec->slots_milli);
    }
    if (spec->cpu_milli != ASK_NOTHING) {
        json_out_kv_milli(j, "cpu", spec->cpu_milli);
    }
    if (spec->memory_bytes != ASK_NOTHING) {
        json_out_kv_i64(j, "memory", spec->memory_bytes);
    }
    if (spec->gpu_memory_bytes > 0) {
        json_out_kv_i64(j, "gpu_memory", spec->gpu_memory_bytes);
    }
    if (spec->gpu_devices > 0) {
        json_out_kv_u64(j, "gpu_devices", spec->gpu_devices);
    }
    for (uint32_t i = 0; i < spec->resource_count; i++) {
        json_out_kv_milli(j, spec->resources[i].name, spec->resources[i].milli);
    }
    json_out_end(j);
}

void part_json_depends(struct json_out *j, const struct task_spec *spec)
{
    json_out_put(j, "depends_on:[");
    for (uint32_t i = 0; i < spec->depends_count; i++) {
        if ((spec->depends_any >> i & 1) == 0) {
            json_out_u64(j, spec->depends_on[i]);
            continue;
        }
        char text[32];
        (void)snprintf(text, sizeof text, "%" PRIu64 ":any", spec->depends_on[i]);
        json_out_text(j, text);
    }
    json_out_end(j);
}

void part_json_env(struct json_out *j, const struct task_spec *spec)
{
    json_out_put(j, "env:{");
    for (uint32_t i = 0; i < spec->env_count; i++) {
        struct str value;
        json_out_key_str(j, str_cut(str_of(spec->env[i]), '=', &value));
        json_out_str(j, value);
    }
    json_out_end(j);
}

void part_json_topology(struct json_out *j, const struct topology_spec *topology)
{
    const bool required = topology->required != NULL && topology->required[0] != '\0';
    const bool preferred = topology->preferred != NULL && topology->preferred[0] != '\0';
    if (!required && !preferred) {
        json_out_kv_text(j, "topology", NULL);
        return;
    }
    json_out_put(j, "topology:{");
    if (required) {
        json_out_kv_text(j, "required", topology->required);
    }
    if (preferred) {
        json_out_kv_text(j, "preferred", topology->preferred);
    }
    json_out_end(j);
}

/* The recursion is as deep as the tree of groups. */
static void groups_below(struct json_out *j, const struct task_spec *spec, uint32_t parent)
{
    json_out_put(j, "groups:[");
    for (uint32_t i = 0; i < spec->group_count; i++) {
        const struct group_spec *group = &spec->groups[i];
        if (group->parent != parent) {
            continue;
        }
        json_out_put(j, "{name:%s", group->name);
        if (group->instances > 0) {
            json_out_kv_u64(j, "instances", group->instances);
        }
        if (group->min > 0) {
            json_out_kv_u64(j, group->instances > 0 ? "min" : "min_groups", group->min);
        }
        if (group->node_label_count > 0) {
            part_json_labels(j, "node_labels", group->node_labels, group->node_label_count);
        }
        if (group->asks != NULL) {
            part_json_asks(j, group->asks);
        }
        part_json_topology(j, &group->topology);
        if (group->instances == 0) {
            groups_below(j, spec, i + 1);
        }
        json_out_end(j);
    }
    json_out_end(j);
}

void part_json_groups(struct json_out *j, const struct task_spec *spec)
{
    if (spec->group_count == 0) {
        json_out_kv_text(j, "groups", NULL);
        return;
    }
    groups_below(j, spec, 0);
    if (spec->min_groups > 0) {
        json_out_kv_u64(j, "min_groups", spec->min_groups);
    }
}

void part_json_reservations(struct json_out *j, const struct reservation *at, uint32_t count)
{
    json_out_put(j, "reservations:[");
    for (uint32_t i = 0; i < count; i++) {
        json_out_put(j, "{task:%lu,until:%td,turn:%i}", at[i].task.v, at[i].until_ms, at[i].turn);
    }
    json_out_end(j);
}

void part_json_account(struct json_out *j, const struct core *core, account_id id)
{
    const struct account *account = query_account(core, id);
    if (account != NULL) {
        json_out_kv_text(j, names_account_kind(account->kind), query_account_name(core, id));
    }
}

int64_t part_json_slot_hours(int64_t amount)
{
    enum { MS_PER_HOUR = 3600 * 1000 };
    return amount / MS_PER_HOUR - (amount % MS_PER_HOUR < 0);
}
