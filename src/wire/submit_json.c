/* submit_json.c - a task as the body of POST /tasks.
 * SPDX-License-Identifier: Apache-2.0 */
#include "wire/submit_json.h"

#include "wire/part_json.h"

#include <inttypes.h>
#include <stdio.h>

static void instances_json(struct json_out *j, const struct task_spec *spec)
{
    if (spec->array_first == 0) {
        json_out_kv_u64(j, "instances", spec->instances);
        return;
    }
    char range[48];
    (void)snprintf(range, sizeof range, "%u-%" PRIu64, spec->array_first,
                   (uint64_t)spec->array_first + spec->instances - 1);
    json_out_kv_text(j, "array", range);
}

static void duration_json(struct json_out *j, const char *key, int64_t ms)
{
    json_out_kv_milli(j, key, ms); /* seconds with three places */
}

void submit_json(struct json_out *j, const struct task_spec *spec)
{
    json_out_object(j);
    json_out_kv_text(j, "name", spec->name);
    json_out_kv_text(j, "kind", names_task_kind(spec->kind));
    part_json_texts(j, "command", spec->argv, spec->argv_count);
    part_json_env(j, spec);
    json_out_kv_text(j, "workdir", spec->workdir);
    json_out_kv_text(j, "image", spec->image);
    json_out_kv_text(j, "project", spec->project);
    if (spec->pool_count > 0) {
        part_json_texts(j, "pools", spec->pools, spec->pool_count);
    }
    part_json_asks(j, spec);
    if (spec->device_mask != 0) {
        part_json_devices(j, "devices", spec->device_mask);
    }
    if (spec->avoid_count > 0) {
        part_json_texts(j, "avoid", spec->avoid, spec->avoid_count);
    }
    if (spec->node_label_count > 0) {
        part_json_labels(j, "node_labels", spec->node_labels, spec->node_label_count);
    }
    if (spec->group_count == 0) {
        instances_json(j, spec);
    }
    part_json_groups(j, spec);
    json_out_kv_bool(j, "gang", spec->gang);
    if (spec->min_instances > 0) {
        json_out_kv_u64(j, "min_instances", spec->min_instances);
    }
    json_out_key(j, "topology");
    part_json_topology(j, &spec->topology);
    json_out_kv_u64(j, "priority", spec->priority);
    json_out_kv_bool(j, "preemptible", spec->preemptible);
    json_out_kv_bool(j, "repeatable", spec->repeatable);
    duration_json(j, "time_limit", spec->time_limit_ms);
    duration_json(j, "grace", spec->grace_ms);
    if (spec->own_stale_grace && spec->stale_grace_ms == STALE_GRACE_NEVER) {
        json_out_kv_text(j, "stale_grace", "never");
    } else if (spec->own_stale_grace) {
        duration_json(j, "stale_grace", spec->stale_grace_ms);
    }
    if (spec->own_preempt_delay) {
        duration_json(j, "preemption_delay", spec->preempt_delay_ms);
    }
    json_out_kv_u64(j, "max_retries", spec->max_retries);
    part_json_depends(j, spec);
    part_json_texts(j, "tags", spec->tags, spec->tag_count);
    json_out_kv_bool(j, "stage", spec->stage);
    json_out_end(j);
}
