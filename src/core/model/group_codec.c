/* group_codec.c - the topology and the groups of a task, and the form that follows from them.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core/model/group_codec.h"

#include "core/model/codec.h"
#include "core/model/form.h"
#include "core/model/limits.h"
#include "core/model/spec_codec.h"

#include <string.h>

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
