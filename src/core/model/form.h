/* form.h - forms: a tree of groups for a gang whose instances differ or must be close together. Each group
 * has a request, a minimum and topology levels. A form is part of a shape. A task whose instances are all
 * alike and may be anywhere has no form.
 *
 *   groups[0]  the gang itself          [instances 0 .. 5]
 *   groups[1]    leader                  [0]
 *   groups[2]    replicas                [1 .. 5]
 *   groups[3]      replica a             [1 .. 2]
 *   groups[4]      replica b             [3 .. 5]
 *
 * A leaf has instances and no groups below. The minimum of a leaf counts instances, the minimum of any other
 * group counts the groups directly below. A gang grows above its minimums and shrinks again (form_grow.h).
 * The form of a gang that only has a topology is one leaf.
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
    uint32_t parent; /* the group above; the first group has itself */
    uint32_t end;    /* one past the last group below this one */
    uint32_t first;  /* index of the group's first instance */
    uint32_t count;  /* instances of the group and of all groups below */
    /* how many instances (leaf) or groups directly below (others) are needed */
    uint32_t min;
    uint32_t below;                  /* groups directly below; 0: the group is a leaf */
    char required[NAME_LEN_MAX + 1]; /* names of levels of the pool's topology; "": none */
    char preferred[NAME_LEN_MAX + 1];
    struct request request; /* what each instance of a leaf requests */
};

/* Equal forms have equal bytes: there is no padding that is not zero. */
struct form {
    uint32_t group_count;
    uint32_t pad;
    struct form_group groups[];
};

/* A form with `group_count` groups, all zero, in the arena. */
struct form *form_new(struct arena *arena, uint32_t group_count);
size_t form_size(const struct form *form);

/* Fills in all other members of the groups. The caller has set the parents, the minimums (0: all) and the
 * counts of the leaves. False: the groups are no tree in order, the tree is too deep, a group is empty, or a
 * minimum is too high. */
bool form_link(struct form *form);

/* Does the form have groups below the gang? A form without groups is one leaf with a topology. NULL: false. */
bool form_grouped(const struct form *form);

/* The leaf that contains the instance `index`. */
const struct form_group *form_leaf(const struct form *form, uint32_t index);
/* The first leaf from `group` on; group_count: there is none. */
uint32_t form_leaf_next(const struct form *form, uint32_t group);

/* The smallest number of instances with which the gang can run. */
uint32_t form_min(const struct form *form);

/* Does the text name a level? */
bool form_level_said(const char *level);

/* Sets the levels of a group from a spec. */
struct topology_spec;
void form_levels(struct form_group *group, const struct topology_spec *topology);

/* The form of a task without groups, in the arena. `request` is what each instance requests. NULL: the task
 * names no topology level and has no form. */
struct task_spec;
struct form *form_of_topology(const struct task_spec *spec, const struct request *request,
                              struct arena *arena);

/* May a task with this spec have this form? NULL stands for no form. */
bool form_fits(const struct form *form, const struct task_spec *spec);

/* ---- bytes ---- */

void form_encode(const struct form *form, struct buf *out);
/* Reads a form into the arena. NULL: the bytes are not a form, and the reader is bad. */
struct form *form_decode(struct bytes_reader *in, struct arena *arena, uint32_t resource_count);
