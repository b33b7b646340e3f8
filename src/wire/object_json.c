/* object_json.c - see object_json.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "wire/object_json.h"

#include "base/amount.h"
#include "base/must.h"
#include "core/model/task_parts.h"
#include "wire/fallback_json.h"
#include "wire/part_json.h"
#include "wire/record_json.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { KEY_MAX = 64 };

/* A value is shown as null when it is a time inherited from the pool or the parent account, or
 * an amount without a bound. */
static bool is_null(const struct object_field *row, int64_t value)
{
    return row->record.type == RECORD_MS ? row->record.low < 0 && value == row->record.low
                                         : row->words != NULL && value == 0;
}

static void field_json(struct json_out *j, const struct object_field *row, const void *spec)
{
    const size_t len = strlen(row->record.name);
    char key[KEY_MAX];
    struct record_field shown = row->record;
    if (row->record.type == RECORD_MS) {
        must(len + sizeof "_ms" <= sizeof key);
        memcpy(key, row->record.name, len);
        memcpy(key + len, "_ms", sizeof "_ms");
        shown.name = key;
    }
    if ((row->record.type == RECORD_MS || row->record.type == RECORD_MILLI) &&
        is_null(row, record_value(&row->record, spec))) {
        json_out_key(j, shown.name);
        json_out_null(j);
        return;
    }
    record_json_put_field(j, &shown, spec);
}

void object_json_fields(struct json_out *j, const struct object *object, enum object_group group,
                        const void *spec)
{
    for (uint32_t i = 0; i < object->count; i++) {
        const struct object_field *row = &object->fields[i];
        const bool unset = group == GROUP_PROVIDER && row->tag >= TAG_ENGINE &&
                           row->tag != TAG_NONE && object_default(row, spec);
        if (row->group == group && !unset) {
            field_json(j, row, spec);
        }
    }
}

/* Returns the word of `words` for -1, -2 and so on. */
static struct str word_for(const char *words, int64_t value)
{
    struct str rest = str_of(words);
    struct str word = {0};
    for (; value < 0; value++) {
        word = str_cut(rest, ' ', &rest);
    }
    return word;
}

/* Writes a field as a file would have it. */
static void given_json(struct json_out *j, const struct object_field *row, const void *spec)
{
    if (row->record.type != RECORD_MS) {
        record_json_put_field(j, &row->record, spec);
        return;
    }
    const int64_t ms = record_value(&row->record, spec);
    char text[AMOUNT_TEXT_MAX];
    json_out_key(j, row->record.name);
    if (ms < 0) {
        json_out_str(j, word_for(row->words, ms));
    } else {
        amount_duration_text(ms, text);
        json_out_text(j, text);
    }
}

/* Writes the fields of a group as a file would have them. False: all are defaults. With `key`
 * the fields form a map of this name. */
static bool group_json(struct json_out *j, const struct object *object, enum object_group group,
                       const char *key, const void *spec)
{
    bool any = false;
    for (uint32_t i = 0; i < object->count; i++) {
        const struct object_field *row = &object->fields[i];
        if (row->group != group || object_default(row, spec)) {
            continue;
        }
        if (!any && key != NULL) {
            json_out_key(j, key);
            json_out_object(j);
        }
        any = true;
        given_json(j, row, spec);
    }
    return any;
}

void object_json_accepts(struct json_out *j, uint32_t accepts)
{
    json_out_put(j, "accepts:[");
    for (int kind = 0; kind < TASK_KIND_COUNT; kind++) {
        if ((accepts >> kind & 1) != 0) {
            json_out_text(j, names_task_kind((enum task_kind)kind));
        }
    }
    json_out_end(j);
}

void object_json_pool(struct json_out *j, const struct pool_spec *spec)
{
    json_out_put(j, "{name:%s", spec->name);
    (void)group_json(j, &pool_object, GROUP_TOP, NULL, spec);
    if (spec->accepts != 0) {
        object_json_accepts(j, spec->accepts);
    }
    if (spec->topology_count > 0) {
        part_json_texts(j, "topology", spec->topology, spec->topology_count);
    }
    if (spec->selector_count > 0) {
        part_json_labels(j, "selector", spec->selector, spec->selector_count);
    }
    if (spec->guest_count > 0) {
        part_json_texts(j, "for", spec->guests, spec->guest_count);
    }
    if (spec->slots_per_node > 0) {
        json_out_kv_u64(j, "slots_per_node", spec->slots_per_node - 1);
    }
    json_out_put(j, "scheduler:{");
    (void)group_json(j, &pool_object, GROUP_SCHEDULER, NULL, spec);
    if (group_json(j, &pool_object, GROUP_HISTORY, "history", spec)) {
        json_out_end(j);
    }
    json_out_end(j);
    if (group_json(j, &pool_object, GROUP_PROVIDER, "provider", spec)) {
        json_out_end(j);
    }
    json_out_end(j);
}

void object_json_flavor(struct json_out *j, const struct flavor_spec *spec)
{
    json_out_put(j, "{name:%s", spec->name);
    (void)group_json(j, &flavor_object, GROUP_TOP, NULL, spec);
    json_out_end(j);
}

void object_json_network(struct json_out *j, const struct network_spec *spec)
{
    json_out_put(j, "{name:%s", spec->name);
    (void)group_json(j, &network_object, GROUP_TOP, NULL, spec);
    if (spec->guest_count > 0) {
        part_json_texts(j, "for", spec->guests, spec->guest_count);
    }
    json_out_end(j);
}

void object_json_account(struct json_out *j, const struct account_spec *spec)
{
    json_out_put(j, "{name:%s", spec->name);
    json_out_kv_text(j, spec->kind == ACCOUNT_PROJECT ? "department" : "parent", spec->parent);
    (void)group_json(j, &account_object, GROUP_TOP, NULL, spec);
    json_out_end(j);
}

/* Writes the number of instances, or the groups. */
static void instances_json(struct json_out *j, const struct task_spec *spec)
{
    char range[48];
    if (spec->group_count > 0) {
        part_json_groups(j, spec);
        return; /* groups imply a gang and the number of instances */
    }
    if (spec->array_first > 0) {
        (void)snprintf(range, sizeof range, "%u-%" PRIu64, spec->array_first,
                       (uint64_t)spec->array_first + spec->instances - 1);
        json_out_kv_text(j, "array", range);
    } else if (spec->instances > 1) {
        json_out_kv_u64(j, "instances", spec->instances);
    }
    if (spec->min_instances > 0) {
        json_out_kv_u64(j, "min_instances", spec->min_instances);
    } else if (spec->gang) {
        json_out_kv_bool(j, "gang", true);
    }
}

void object_json_task(struct json_out *j, const struct task_spec *spec, bool env)
{
    const bool preemptible = spec->kind == TASK_EXPERIMENT || spec->kind == TASK_COMMAND;
    json_out_object(j);
    part_json_texts(j, "command", spec->argv, spec->argv_count);
    (void)group_json(j, &task_object, GROUP_TOP, NULL, spec);
    if (env && spec->env_count > 0) {
        part_json_env(j, spec);
    }
    if (spec->pool_count > 0) {
        part_json_texts(j, "pools", spec->pools, spec->pool_count);
    }
    fallback_json_spec(j, spec);
    part_json_asks(j, spec);
    if (spec->device_mask != 0) {
        part_json_devices(j, "devices", spec->device_mask);
    }
    instances_json(j, spec);
    if (task_parts_groups_said(&(struct task_spec){.topology = spec->topology})) {
        part_json_topology(j, &spec->topology);
    }
    if (spec->preemptible != preemptible) {
        json_out_kv_bool(j, "preemptible", spec->preemptible);
    }
    if (spec->depends_count > 0) {
        part_json_depends(j, spec);
    }
    json_out_end(j);
}
