/* task_parts.c - the fields of a task that consist of several members, as bytes: dependencies, the request of
 * an instance, the gang, topology and groups. The order of the bytes is the stored format
 * (docs/dev/formats/facts.md).
 * SPDX-License-Identifier: Apache-2.0 */
#include "core/model/task_parts.h"

#include "core/model/group_codec.h"

#include "base/amount.h"
#include "core/model/codec.h"
#include "core/model/record.h"
#include "core/model/spec_codec.h"

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

static const struct record_field asks_before[] = {
    ASKED(RECORD_MILLI, "slots", slots_milli, ASK_NOTHING, AMOUNT_MILLI_MAX),
    ASKED(RECORD_MILLI, "cpu", cpu_milli, ASK_NOTHING, AMOUNT_MILLI_MAX),
    ASKED(RECORD_MEMORY, "memory", memory_bytes, ASK_NOTHING, AMOUNT_BYTES_MAX),
    ASKED(RECORD_MEMORY, "gpu_memory", gpu_memory_bytes, 0, AMOUNT_BYTES_MAX),
    ASKED(RECORD_UINT, "devices", device_mask, 0, RECORD_ANY),
};
static const struct record_field asks_named =
    RECORD_LIST(RECORD_AMOUNTS, struct task_spec, resources, resource_count, "resources", 0,
                TASK_RESOURCES_MAX, 0);
enum { ASKS_BEFORE = sizeof asks_before / sizeof asks_before[0] };

void task_parts_asks_put(const void *object, struct buf *out)
{
    const struct task_spec *spec = object;
    record_put(asks_before, ASKS_BEFORE, spec, out);
    bytes_put_u64(out, spec->needs_gpu | (uint64_t)spec->gpu_devices << 1);
    record_put_field(&asks_named, spec, out);
}

void task_parts_asks_get(struct bytes_reader *in, struct arena *arena, void *object)
{
    struct task_spec *ret = object;
    record_get(asks_before, ASKS_BEFORE, in, arena, ret);
    const uint64_t gpu = bytes_get_max(in, (uint64_t)NODE_DEVICES_MAX << 1 | 1);
    ret->needs_gpu = (gpu & 1) != 0;
    ret->gpu_devices = (uint32_t)(gpu >> 1);
    record_get_field(&asks_named, in, arena, ret);
}

void task_parts_asks_copy(void *to, const void *from)
{
    struct task_spec *spec = to;
    const struct task_spec *asks = from;
    for (size_t i = 0; i < ASKS_BEFORE; i++) {
        record_copy_field(&asks_before[i], to, from);
    }
    record_copy_field(&asks_named, to, from);
    spec->needs_gpu = asks->needs_gpu;
    spec->gpu_devices = asks->gpu_devices;
}

bool task_parts_asks_bounded(const struct task_spec *spec, const char **ret_limit, int64_t *ret_max)
{
    for (size_t i = 0; i < ASKS_BEFORE; i++) {
        if (!record_bounded(&asks_before[i], spec, ret_limit, ret_max)) {
            return false;
        }
    }
    return record_bounded(&asks_named, spec, ret_limit, ret_max);
}

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

/* ---- topology and groups ---- */

static bool said(const char *text)
{
    return text != NULL && text[0] != '\0';
}

static void levels_put(const struct topology_spec *topology, struct buf *out)
{
    bytes_put_text(out, topology->required);
    bytes_put_text(out, topology->preferred);
}

static void levels_get(struct bytes_reader *in, struct arena *arena, struct topology_spec *ret)
{
    ret->required = bytes_get_text(in, arena, NAME_LEN_MAX);
    ret->preferred = bytes_get_text(in, arena, NAME_LEN_MAX);
}

bool task_parts_groups_said(const void *object)
{
    const struct task_spec *spec = object;
    return spec->group_count > 0 || said(spec->topology.required) || said(spec->topology.preferred);
}

void task_parts_groups_put(const void *object, struct buf *out)
{
    const struct task_spec *spec = object;
    levels_put(&spec->topology, out);
    bytes_put_u64(out, spec->min_groups);
    bytes_put_u64(out, spec->group_count);
    for (uint32_t i = 0; i < spec->group_count; i++) {
        const struct group_spec *group = &spec->groups[i];
        bytes_put_text(out, group->name);
        bytes_put_u64(out, group->parent);
        bytes_put_u64(out, group->instances);
        bytes_put_u64(out, group->min);
        levels_put(&group->topology, out);
        codec_put_bool(out, group->asks != NULL);
        if (group->asks != NULL) {
            task_parts_asks_put(group->asks, out);
        }
    }
}

static void group_get(struct bytes_reader *in, struct arena *arena, struct group_spec *ret)
{
    ret->name = bytes_get_text(in, arena, NAME_LEN_MAX);
    ret->parent = (uint32_t)bytes_get_max(in, TASK_GROUPS_MAX);
    ret->instances = (uint32_t)bytes_get_max(in, TASK_INSTANCES_MAX);
    ret->min = (uint32_t)bytes_get_max(in, TASK_INSTANCES_MAX);
    levels_get(in, arena, &ret->topology);
    if (codec_get_bool(in)) {
        struct task_spec *asks = arena_new(arena, struct task_spec, 1);
        task_parts_asks_get(in, arena, asks);
        ret->asks = asks;
    }
    if (ret->name[0] == '\0') {
        codec_bad(in);
    }
}

void task_parts_groups_get(struct bytes_reader *in, struct arena *arena, void *object)
{
    struct task_spec *ret = object;
    levels_get(in, arena, &ret->topology);
    ret->min_groups = (uint32_t)bytes_get_max(in, TASK_GROUPS_MAX);
    ret->group_count = codec_get_count(in, TASK_GROUPS_MAX);
    struct group_spec *groups = arena_new(arena, struct group_spec, ret->group_count);
    for (uint32_t i = 0; i < ret->group_count; i++) {
        group_get(in, arena, &groups[i]);
    }
    ret->groups = groups;
    const bool gang = ret->gang || (ret->group_count == 0 && ret->instances == 1);
    if (in->bad || !task_parts_groups_said(ret) || !gang ||
        (ret->group_count > 0 && ret->min_instances > 0) || !group_codec_sound(ret)) {
        codec_bad(in);
    }
}

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
        codec_put_labels(out, spec->groups[i].node_labels, spec->groups[i].node_label_count);
    }
}

void task_parts_labels_get(struct bytes_reader *in, struct arena *arena, void *object)
{
    struct task_spec *ret = object;
    struct group_spec *groups = arena_new(arena, struct group_spec, ret->group_count);
    for (uint32_t i = 0; i < ret->group_count; i++) {
        groups[i] = ret->groups[i];
        groups[i].node_labels =
            codec_get_labels(in, arena, NODE_LABELS_MAX, &groups[i].node_label_count);
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

void task_parts_topology_put(const void *object, struct buf *out)
{
    levels_put(&((const struct task_spec *)object)->topology, out);
}

void task_parts_topology_get(struct bytes_reader *in, struct arena *arena, void *object)
{
    levels_get(in, arena, &((struct task_spec *)object)->topology);
}

void task_parts_topology_copy(void *to, const void *from)
{
    ((struct task_spec *)to)->topology = ((const struct task_spec *)from)->topology;
}
