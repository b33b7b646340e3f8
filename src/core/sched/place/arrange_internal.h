/* arrange_internal.h - the search of arrange.c, shared with arrange_leaf.c.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/model/ids.h"
#include "core/model/limits.h"
#include "core/sched/place/nodeset.h"

#include <stdbool.h>
#include <stdint.h>

enum { ARRANGE_LEVEL_NONE = -1 };

/* Where a group must be. */
struct scope {
    int32_t level;    /* of the domain; ARRANGE_LEVEL_NONE: no level */
    domain_id domain; /* 0: anywhere in the pool */
    int32_t close;    /* the level of which few domains should be used, or ARRANGE_LEVEL_NONE */
};

/* The instances of one leaf that need a place. */
struct part {
    const uint32_t *indices;
    uint32_t count;
};

struct arrange_search {
    struct nodeset *nodeset;
    struct part parts[TASK_GROUPS_MAX + 1]; /* by leaf */
    uint32_t tries;                         /* attempts to fill a group */
    bool exact;                             /* a miss proves that there are no places */
};

/* A domain, or the part of a scope that is in one domain of a closer level. */
struct area {
    domain_id domain;
    uint32_t node; /* the lowest node */
    uint64_t room; /* instances of a leaf that fit; in domains_of(): the domain's rank */
};

/* The number of nodes in a scope. */
uint32_t arrange_leaf_scope_size(const struct nodeset *nodeset, struct scope scope);

/* Places all instances of a leaf in a scope, or none. */
bool arrange_leaf_place(struct arrange_search *search, uint32_t leaf, struct scope scope);
