/* form.h - how the instances of a gang hang together where they are not simply alike and anywhere: groups within groups, each with
 * a request and a wish how close together it is to be. Part of a shape; tasks with no such wishes have none.
 *
 *   groups[0]  the gang itself          [instances 0 .. 5]
 *   groups[1]    leader                  [0]
 *   groups[2]    replicas                [1 .. 5]
 *   groups[3]      replica a             [1 .. 2]
 *   groups[4]      replica b             [3 .. 5]
 *
 * A leaf may need fewer than all of its instances, and a group of groups fewer than all of those: what is above that comes and goes
 * (form_grow.h). A gang that only has a topology is one leaf.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/arena.h"
#include "base/buf.h"
#include "base/bytes.h"
#include "core/model/limits.h"
#include "core/model/resource.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct form_group {
    uint32_t parent;                 /* the group it is part of; of the first: itself */
    uint32_t end;                    /* behind the last group below it */
    uint32_t first;                  /* its first instance */
    uint32_t count;                  /* its instances, those of the groups below it */
    uint32_t min;                    /* of a leaf: instances; else: groups directly below it */
    uint32_t below;                  /* groups directly below it; 0: a leaf */
    char required[NAME_LEN_MAX + 1]; /* levels of the pool's topology; "": none */
    char preferred[NAME_LEN_MAX + 1];
    struct request request; /* of a leaf's instances */
};

/* Plain bytes without padding that matters: equal forms are byte-equal. */
struct form {
    uint32_t group_count;
    uint32_t pad;
    struct form_group groups[];
};

/* Room for so many groups, all zero. */
struct form *form_new(struct arena *arena, uint32_t group_count);
size_t form_size(const struct form *form);

/* From parents, minimums (0: all) and the instances of leaves, all else is filled in. False: it is no tree in order, too deep, or
 * has an empty group or a minimum that is too high. */
bool form_link(struct form *form);

/* Are there groups that are not alike? Else it is one leaf with a topology. */
bool form_grouped(const struct form *form);

/* The leaf that an instance is in. */
const struct form_group *form_leaf(const struct form *form, uint32_t index);
/* The next leaf from `group` on, or group_count. */
uint32_t form_leaf_next(const struct form *form, uint32_t group);

/* The fewest instances with which the gang runs. */
uint32_t form_min(const struct form *form);

/* Does the text name a level? */
bool form_level_said(const char *level);

/* The levels that a group asks for. */
struct topology_spec;
void form_levels(struct form_group *group, const struct topology_spec *topology);

/* The form of a task without groups whose instances ask for this; NULL: it names no level, and has none. In the arena. */
struct task_spec;
struct form *form_of_topology(const struct task_spec *spec, const struct request *request,
                              struct arena *arena);

/* Is it (or NULL) a form that a task with these topology and groups may have? */
bool form_fits(const struct form *form, const struct task_spec *spec);

/* ---- bytes ---- */

void form_encode(const struct form *form, struct buf *out);
/* NULL, and the reader is bad: it cannot be right. */
struct form *form_decode(struct bytes_reader *in, struct arena *arena, uint32_t resource_count);
