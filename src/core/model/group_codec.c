/* group_codec.c - topology and groups of a task as bytes.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core/model/group_codec.h"

#include "core/model/codec.h"
#include "core/model/form.h"
#include "core/model/limits.h"
#include "core/model/spec_codec.h"

#include <string.h>

static void topology_put(const struct topology_spec *topology, struct buf *out)
{
    bytes_put_text(out, topology->required);
    bytes_put_text(out, topology->preferred);
}

static void topology_get(struct bytes_reader *in, struct arena *arena, struct topology_spec *ret)
{
    ret->required = bytes_get_text(in, arena, NAME_LEN_MAX);
    ret->preferred = bytes_get_text(in, arena, NAME_LEN_MAX);
}

bool group_codec_said(const struct task_spec *spec)
{
    return spec->group_count > 0 || form_level_said(spec->topology.required) ||
           form_level_said(spec->topology.preferred);
}

void group_codec_encode(const struct task_spec *spec, struct buf *out)
{
    topology_put(&spec->topology, out);
    bytes_put_u64(out, spec->min_groups);
    bytes_put_u64(out, spec->group_count);
    for (uint32_t i = 0; i < spec->group_count; i++) {
        const struct group_spec *group = &spec->groups[i];
        bytes_put_text(out, group->name);
        bytes_put_u64(out, group->parent);
        bytes_put_u64(out, group->instances);
        bytes_put_u64(out, group->min);
        topology_put(&group->topology, out);
        codec_put_bool(out, group->asks != NULL);
        if (group->asks != NULL) {
            spec_codec_asks_encode(group->asks, out);
        }
    }
}

static void group_get(struct bytes_reader *in, struct arena *arena, struct group_spec *ret)
{
    ret->name = bytes_get_text(in, arena, NAME_LEN_MAX);
    ret->parent = (uint32_t)bytes_get_max(in, TASK_GROUPS_MAX);
    ret->instances = (uint32_t)bytes_get_max(in, TASK_INSTANCES_MAX);
    ret->min = (uint32_t)bytes_get_max(in, TASK_INSTANCES_MAX);
    topology_get(in, arena, &ret->topology);
    if (codec_get_bool(in)) {
        struct task_spec *asks = arena_new(arena, struct task_spec, 1);
        spec_codec_asks_decode(in, arena, asks);
        ret->asks = asks;
    }
    if (ret->name[0] == '\0') {
        codec_bad(in);
    }
}

void group_codec_decode(struct bytes_reader *in, struct arena *arena, struct task_spec *ret)
{
    topology_get(in, arena, &ret->topology);
    ret->min_groups = (uint32_t)bytes_get_max(in, TASK_GROUPS_MAX);
    ret->group_count = codec_get_count(in, TASK_GROUPS_MAX);
    struct group_spec *groups = arena_new(arena, struct group_spec, ret->group_count);
    for (uint32_t i = 0; i < ret->group_count; i++) {
        group_get(in, arena, &groups[i]);
    }
    ret->groups = groups;
    const bool gang = ret->gang || (ret->group_count == 0 && ret->instances == 1);
    if (in->bad || !group_codec_said(ret) || !gang ||
        (ret->group_count > 0 && ret->min_instances > 0) || !group_codec_sound(ret)) {
        codec_bad(in);
    }
}

bool group_codec_labels_said(const struct task_spec *spec)
{
    uint32_t labels = 0;
    for (uint32_t i = 0; i < spec->group_count; i++) {
        labels += spec->groups[i].node_label_count;
    }
    return labels > 0;
}

void group_codec_labels_encode(const struct task_spec *spec, struct buf *out)
{
    for (uint32_t i = 0; i < spec->group_count; i++) {
        spec_codec_labels_put(out, spec->groups[i].node_labels, spec->groups[i].node_label_count);
    }
}

void group_codec_labels_decode(struct bytes_reader *in, struct arena *arena, struct task_spec *ret)
{
    struct group_spec *groups = arena_new(arena, struct group_spec, ret->group_count);
    for (uint32_t i = 0; i < ret->group_count; i++) {
        groups[i] = ret->groups[i];
        groups[i].node_labels = spec_codec_labels_get(in, arena, &groups[i].node_label_count);
        if (groups[i].node_label_count + ret->node_label_count > TASK_LABELS_MAX ||
            (groups[i].instances == 0 && groups[i].node_label_count > 0)) {
            codec_bad(in);
        }
    }
    ret->groups = groups;
    if (!group_codec_labels_said(ret)) {
        codec_bad(in);
    }
}

bool group_codec_sound(const struct task_spec *spec)
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

bool group_codec_levels_differ(const struct pool_spec *spec)
{
    for (uint32_t i = 0; i < spec->topology_count; i++) {
        if (!form_level_said(spec->topology[i])) {
            return false;
        }
        for (uint32_t j = 0; j < i; j++) {
            if (strcmp(spec->topology[i], spec->topology[j]) == 0) {
                return false;
            }
        }
    }
    return true;
}
