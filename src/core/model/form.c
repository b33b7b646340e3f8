/* form.c - groups within a gang: the tree and its bytes.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core/model/form.h"

#include "base/must.h"
#include "base/str.h"
#include "core/model/codec.h"
#include "core/model/spec.h"

#include <string.h>

struct form *form_new(struct arena *arena, uint32_t group_count)
{
    must(group_count > 0);
    must(group_count <= TASK_GROUPS_MAX + 1);
    struct form *form = arena_alloc(arena, sizeof *form + group_count * sizeof(struct form_group));
    form->group_count = group_count;
    return form;
}

size_t form_size(const struct form *form)
{
    return sizeof *form + form->group_count * sizeof form->groups[0];
}

bool form_grouped(const struct form *form)
{
    return form != NULL && form->group_count > 1;
}

/* ---- the tree ---- */

static uint32_t depth_of(const struct form *form, uint32_t group)
{
    uint32_t depth = 0;
    for (; group != 0; group = form->groups[group].parent) {
        depth++;
    }
    return depth;
}

/* Groups below one follow it directly: the parent of the next is the one before it, or above that. */
static bool in_order(const struct form *form)
{
    for (uint32_t i = 1; i < form->group_count; i++) {
        const uint32_t parent = form->groups[i].parent;
        uint32_t above = i - 1;
        while (above != parent && above != 0) {
            above = form->groups[above].parent;
        }
        if (parent >= i || above != parent || depth_of(form, i) > GROUP_DEPTH_MAX) {
            return false;
        }
    }
    return form->groups[0].parent == 0;
}

bool form_link(struct form *form)
{
    uint32_t instances = 0;
    if (!in_order(form)) {
        return false;
    }
    for (uint32_t i = 0; i < form->group_count; i++) {
        struct form_group *group = &form->groups[i];
        group->first = instances;
        group->end = i + 1;
        group->below = 0;
        if (group->count > TASK_INSTANCES_MAX - instances) {
            return false;
        }
        instances += group->count;
    }
    for (uint32_t i = form->group_count - 1; i > 0; i--) {
        struct form_group *group = &form->groups[i];
        struct form_group *parent = &form->groups[group->parent];
        if (parent->below == 0 && parent->count > 0) {
            return false; /* instances of its own, and groups */
        }
        parent->below++;
        parent->end = group->end > parent->end ? group->end : parent->end;
        parent->count += group->count;
    }
    for (uint32_t i = 0; i < form->group_count; i++) {
        struct form_group *group = &form->groups[i];
        const uint32_t all = group->below > 0 ? group->below : group->count;
        group->min = group->min == 0 ? all : group->min;
        if (all == 0 || group->min > all) {
            return false;
        }
    }
    return true;
}

const struct form_group *form_leaf(const struct form *form, uint32_t index)
{
    uint32_t at = 0;
    must(index < form->groups[0].count);
    while (form->groups[at].below > 0) {
        uint32_t child = at + 1;
        while (index >= form->groups[child].first + form->groups[child].count) {
            child = form->groups[child].end;
        }
        at = child;
    }
    return &form->groups[at];
}

uint32_t form_leaf_next(const struct form *form, uint32_t group)
{
    while (group < form->group_count && form->groups[group].below > 0) {
        group++;
    }
    return group;
}

/* Puts a number in its place among the ascending ones before it. */
static void insert(uint32_t *ascending, uint32_t count, uint32_t number)
{
    uint32_t at = count;
    for (; at > 0 && ascending[at - 1] > number; at--) {
        ascending[at] = ascending[at - 1];
    }
    ascending[at] = number;
}

uint32_t form_min(const struct form *form)
{
    uint32_t least[TASK_GROUPS_MAX + 1];
    for (uint32_t i = form->group_count; i > 0; i--) {
        const struct form_group *group = &form->groups[i - 1];
        uint32_t below[TASK_GROUPS_MAX];
        uint32_t count = 0;
        least[i - 1] = group->below > 0 ? 0 : group->min;
        for (uint32_t child = i; child < group->end; child = form->groups[child].end) {
            insert(below, count++, least[child]);
        }
        for (uint32_t j = 0; j < count && j < group->min; j++) {
            least[i - 1] += below[j];
        }
    }
    return least[0];
}

/* ---- bytes ---- */

void form_encode(const struct form *form, struct buf *out)
{
    bytes_put_u64(out, form->group_count);
    for (uint32_t i = 0; i < form->group_count; i++) {
        const struct form_group *group = &form->groups[i];
        bytes_put_u64(out, group->parent);
        bytes_put_u64(out, group->below > 0 ? 0 : group->count);
        bytes_put_u64(out, group->min);
        bytes_put_text(out, group->required);
        bytes_put_text(out, group->preferred);
        if (group->below == 0) {
            codec_put_request(out, &group->request);
        }
    }
}

struct form *form_decode(struct bytes_reader *in, struct arena *arena, uint32_t resource_count)
{
    const uint32_t count = codec_get_count(in, TASK_GROUPS_MAX + 1);
    if (count == 0) {
        codec_bad(in);
        return NULL;
    }
    struct form *form = form_new(arena, count);
    for (uint32_t i = 0; i < count; i++) {
        struct form_group *group = &form->groups[i];
        group->parent = (uint32_t)bytes_get_max(in, count - 1);
        group->count = (uint32_t)bytes_get_max(in, TASK_INSTANCES_MAX);
        group->min = (uint32_t)bytes_get_max(in, TASK_INSTANCES_MAX);
        const char *required = bytes_get_text(in, arena, NAME_LEN_MAX);
        const char *preferred = bytes_get_text(in, arena, NAME_LEN_MAX);
        must(str_copy(group->required, sizeof group->required, required));
        must(str_copy(group->preferred, sizeof group->preferred, preferred));
        if (group->min == 0) {
            codec_bad(in);
        }
        if (group->count > 0) {
            codec_get_request(in, resource_count, &group->request);
        }
    }
    if (in->bad || !form_link(form)) {
        codec_bad(in);
        return NULL;
    }
    return form;
}

bool form_level_said(const char *text)
{
    return text != NULL && text[0] != '\0';
}

void form_levels(struct form_group *group, const struct topology_spec *topology)
{
    must(str_copy(group->required, sizeof group->required,
                  form_level_said(topology->required) ? topology->required : ""));
    must(str_copy(group->preferred, sizeof group->preferred,
                  form_level_said(topology->preferred) ? topology->preferred : ""));
}

struct form *form_of_topology(const struct task_spec *spec, const struct request *request,
                              struct arena *arena)
{
    must(spec->group_count == 0);
    if (!form_level_said(spec->topology.required) && !form_level_said(spec->topology.preferred)) {
        return NULL;
    }
    struct form *form = form_new(arena, 1);
    form_levels(&form->groups[0], &spec->topology);
    form->groups[0].min = spec->min_instances;
    form->groups[0].count = spec->instances;
    form->groups[0].request = *request;
    must(form_link(form));
    return form;
}

static bool same_level(const char *level, const char *text)
{
    return strcmp(level, text == NULL ? "" : text) == 0;
}

bool form_fits(const struct form *form, const struct task_spec *spec)
{
    const bool close =
        form_level_said(spec->topology.required) || form_level_said(spec->topology.preferred);
    if (form == NULL) {
        return !close && spec->group_count == 0;
    }
    bool fits = form->group_count == spec->group_count + 1 &&
                form->groups[0].count == spec->instances &&
                same_level(form->groups[0].required, spec->topology.required) &&
                same_level(form->groups[0].preferred, spec->topology.preferred);
    for (uint32_t i = 0; fits && i < spec->group_count; i++) {
        const struct form_group *group = &form->groups[i + 1];
        fits = group->parent == spec->groups[i].parent &&
               (group->below > 0) == (spec->groups[i].instances == 0) &&
               (spec->groups[i].min == 0 || spec->groups[i].min == group->min) &&
               same_level(group->required, spec->groups[i].topology.required) &&
               same_level(group->preferred, spec->groups[i].topology.preferred);
    }
    return fits;
}
