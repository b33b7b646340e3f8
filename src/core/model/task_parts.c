/* task_parts.c - the fields of a task that consist of several members, as bytes: dependencies, the request of
 * an instance, the gang, topology and groups. The order of the bytes is the stored format
 * (docs/dev/formats/facts.md).
 * SPDX-License-Identifier: Apache-2.0 */
#include "core/model/task_parts.h"

#include "base/amount.h"
#include "core/model/codec.h"
#include "core/model/fallback.h"
#include "core/model/form.h"
#include "core/model/record.h"

/* ---- dependencies ---- */

/* This bit of a stored dependency says that any end of the other task is enough. */
enum { DEPENDS_ANY_BIT = 63 };

void task_parts_depends_put(const void *object, struct buf *out)
{
    const struct task_spec *spec = object;
    bytes_put_u64(out, spec->depends_count);
    for (uint32_t i = 0; i < spec->depends_count; i++) {
        bytes_put_u64(out, spec->depends_on[i] | (spec->depends_any >> i & 1) << DEPENDS_ANY_BIT);
    }
}

void task_parts_depends_get(struct bytes_reader *in, struct arena *arena, void *object)
{
    struct task_spec *ret = object;
    ret->depends_count = codec_get_count(in, TASK_DEPENDS_MAX);
    uint64_t *depends = arena_new(arena, uint64_t, ret->depends_count);
    for (uint32_t i = 0; i < ret->depends_count; i++) {
        uint64_t id = bytes_get_u64(in);
        depends[i] = id & (((uint64_t)1 << DEPENDS_ANY_BIT) - 1);
        ret->depends_any |= (id >> DEPENDS_ANY_BIT) << i;
    }
    ret->depends_on = depends;
}

/* ---- the request of an instance ---- */

#define ASKED(kind, name, member, least, most)                                                     \
    RECORD_NUMBER(kind, struct task_spec, member, name, least, most)

/* One number: is a device needed, and on how many devices? */
static void gpu_put(const void *object, struct buf *out)
{
    const struct task_spec *spec = object;
    bytes_put_u64(out, spec->needs_gpu | (uint64_t)spec->gpu_devices << 1);
}

static void gpu_get(struct bytes_reader *in, struct arena *arena, void *object)
{
    (void)arena;
    struct task_spec *ret = object;
    const uint64_t gpu = bytes_get_max(in, (uint64_t)NODE_DEVICES_MAX << 1 | 1);
    ret->needs_gpu = (gpu & 1) != 0;
    ret->gpu_devices = (uint32_t)(gpu >> 1);
}

static void gpu_copy(void *to, const void *from)
{
    ((struct task_spec *)to)->needs_gpu = ((const struct task_spec *)from)->needs_gpu;
    ((struct task_spec *)to)->gpu_devices = ((const struct task_spec *)from)->gpu_devices;
}

static const struct record_field asks_fields[] = {
    ASKED(RECORD_MILLI, "slots", slots_milli, ASK_NOTHING, AMOUNT_MILLI_MAX),
    ASKED(RECORD_MILLI, "cpu", cpu_milli, ASK_NOTHING, AMOUNT_MILLI_MAX),
    ASKED(RECORD_MEMORY, "memory", memory_bytes, ASK_NOTHING, AMOUNT_BYTES_MAX),
    ASKED(RECORD_MEMORY, "gpu_memory", gpu_memory_bytes, 0, AMOUNT_BYTES_MAX),
    ASKED(RECORD_UINT, "devices", device_mask, 0, RECORD_ANY),
    {.type = RECORD_OWN, .put = gpu_put, .get = gpu_get, .copy = gpu_copy},
    RECORD_LIST(RECORD_AMOUNTS, struct task_spec, resources, resource_count, "resources", 0,
                TASK_RESOURCES_MAX, 0),
};
const struct record_table task_parts_asks = RECORD_TABLE(struct task_spec, asks_fields);

/* ---- the gang ---- */

/* A gang is one number. 0: no gang. 1: a gang that needs all instances. Above 1: a gang with a minimum of
 * this number less one. */
void task_parts_gang_put(const void *object, struct buf *out)
{
    const struct task_spec *spec = object;
    const bool whole = spec->min_instances == 0 || spec->min_instances >= spec->instances;
    const uint64_t least = whole ? 1 : (uint64_t)spec->min_instances + 1;
    bytes_put_u64(out, spec->gang ? least : 0);
}

void task_parts_gang_get(struct bytes_reader *in, struct arena *arena, void *object)
{
    (void)arena;
    struct task_spec *ret = object;
    const uint64_t gang = bytes_get_max(in, (uint64_t)ret->instances);
    ret->gang = gang > 0;
    ret->min_instances = gang > 1 ? (uint32_t)gang - 1 : 0;
}

/* ---- when the next pool opens ---- */

static const struct record_field fallback_fields[] = {
    ASKED(RECORD_MS, "after", fallback_after_ms, 0, AMOUNT_MS_MAX),
    ASKED(RECORD_UINT, "on", fallback_on, 0, FALLBACK_ON_ALL),
};
const struct record_table task_parts_fallback = RECORD_TABLE(struct task_spec, fallback_fields);

bool task_parts_fallback_said(const void *object)
{
    const struct task_spec *spec = object;
    return spec->fallback_after_ms > 0 || spec->fallback_on != 0;
}

/* ---- topology and groups ---- */

#define LEVEL(member)                                                                              \
    {                                                                                              \
        .name = "topology level length", .type = RECORD_TEXT,                                      \
        RECORD_AT(struct topology_spec, member), .high = NAME_LEN_MAX                              \
    }
static const struct record_field level_fields[] = {LEVEL(required), LEVEL(preferred)};
static const struct record_table level_table = RECORD_TABLE(struct topology_spec, level_fields);
static const struct record_field topology_field = {
    .type = RECORD_PART, RECORD_AT(struct task_spec, topology), .part = &level_table};
const struct record_table task_parts_topology = {&topology_field, 1, sizeof(struct task_spec)};

static void group_asks_put(const void *object, struct buf *out)
{
    const struct group_spec *group = object;
    codec_put_bool(out, group->asks != NULL);
    if (group->asks != NULL) {
        record_write(&task_parts_asks, group->asks, out);
    }
}

static void group_asks_get(struct bytes_reader *in, struct arena *arena, void *object)
{
    if (codec_get_bool(in)) {
        struct task_spec *asks = arena_new(arena, struct task_spec, 1);
        record_read(&task_parts_asks, RECORD_NOW(in, arena), asks);
        ((struct group_spec *)object)->asks = asks;
    }
}

#define IN_GROUP(kind, name, member, least, most)                                                  \
    RECORD_NUMBER(kind, struct group_spec, member, name, least, most)
static const struct record_field group_fields[] = {
    IN_GROUP(RECORD_TEXT, "group name length", name, 1, NAME_LEN_MAX),
    IN_GROUP(RECORD_UINT, "group above", parent, 0, TASK_GROUPS_MAX),
    IN_GROUP(RECORD_UINT, "instances of a group", instances, 0, TASK_INSTANCES_MAX),
    IN_GROUP(RECORD_UINT, "minimum of a group", min, 0, TASK_INSTANCES_MAX),
    {.type = RECORD_PART, RECORD_AT(struct group_spec, topology), .part = &level_table},
    {.type = RECORD_OWN, .put = group_asks_put, .get = group_asks_get},
};
static const struct record_table group_table = RECORD_TABLE(struct group_spec, group_fields);

static const struct record_field groups_fields[] = {
    {.type = RECORD_PART, RECORD_AT(struct task_spec, topology), .part = &level_table},
    ASKED(RECORD_UINT, "min_groups", min_groups, 0, TASK_GROUPS_MAX),
    {.name = "groups",
     .type = RECORD_ROWS,
     RECORD_AT(struct task_spec, groups),
     .count_offset = offsetof(struct task_spec, group_count),
     .high = TASK_GROUPS_MAX,
     .part = &group_table},
};
static const struct record_table groups_table = RECORD_TABLE(struct task_spec, groups_fields);

bool task_parts_groups_said(const void *object)
{
    const struct task_spec *spec = object;
    return spec->group_count > 0 || form_level_said(spec->topology.required) ||
           form_level_said(spec->topology.preferred);
}

void task_parts_groups_put(const void *object, struct buf *out)
{
    record_write(&groups_table, object, out);
}

void task_parts_groups_get(struct bytes_reader *in, struct arena *arena, void *object)
{
    struct task_spec *ret = object;
    record_read(&groups_table, RECORD_NOW(in, arena), ret);
    const bool gang = ret->gang || (ret->group_count == 0 && ret->instances == 1);
    if (in->bad || !task_parts_groups_said(ret) || !gang ||
        (ret->group_count > 0 && ret->min_instances > 0) || !task_parts_groups_sound(ret)) {
        codec_bad(in);
    }
}

bool task_parts_groups_bounded(const struct task_spec *spec, const char **ret_limit,
                               int64_t *ret_max)
{
    bool bounded = record_table_bounded(&level_table, &spec->topology, ret_limit, ret_max) &&
                   record_table_bounded(&groups_table, spec, ret_limit, ret_max);
    for (uint32_t i = 0; i < spec->group_count && bounded; i++) {
        const struct group_spec *group = &spec->groups[i];
        bounded = record_table_bounded(&group_table, group, ret_limit, ret_max) &&
                  record_table_bounded(&level_table, &group->topology, ret_limit, ret_max);
    }
    return bounded;
}

bool task_parts_groups_sound(const struct task_spec *spec)
{
    struct arena arena;
    if (spec->group_count == 0) {
        return spec->min_groups == 0;
    }
    arena_init(&arena);
    struct form *form = form_new(&arena, spec->group_count + 1);
    form->groups[0].min = spec->min_groups;
    for (uint32_t i = 0; i < spec->group_count; i++) {
        form->groups[i + 1].parent = spec->groups[i].parent;
        form->groups[i + 1].count = spec->groups[i].instances;
        form->groups[i + 1].min = spec->groups[i].min;
    }
    const bool sound = form_link(form) && form->groups[0].count == spec->instances;
    arena_done(&arena);
    return sound;
}

static const struct record_field group_labels =
    RECORD_LIST(RECORD_LABELS, struct group_spec, node_labels, node_label_count, "node_labels", 0,
                NODE_LABELS_MAX, 0);

bool task_parts_labels_said(const void *object)
{
    const struct task_spec *spec = object;
    uint32_t labels = 0;
    for (uint32_t i = 0; i < spec->group_count; i++) {
        labels += spec->groups[i].node_label_count;
    }
    return labels > 0;
}

void task_parts_labels_put(const void *object, struct buf *out)
{
    const struct task_spec *spec = object;
    for (uint32_t i = 0; i < spec->group_count; i++) {
        record_put_field(&group_labels, &spec->groups[i], out);
    }
}

void task_parts_labels_get(struct bytes_reader *in, struct arena *arena, void *object)
{
    struct task_spec *ret = object;
    struct group_spec *groups = arena_new(arena, struct group_spec, ret->group_count);
    for (uint32_t i = 0; i < ret->group_count; i++) {
        groups[i] = ret->groups[i];
        record_get_field(&group_labels, in, arena, &groups[i]);
        if (groups[i].node_label_count + ret->node_label_count > TASK_LABELS_MAX ||
            (groups[i].instances == 0 && groups[i].node_label_count > 0)) {
            codec_bad(in);
        }
    }
    ret->groups = groups;
    if (!task_parts_labels_said(ret)) {
        codec_bad(in);
    }
}
