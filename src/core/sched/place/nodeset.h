/* nodeset.h - where the instances of a gang with a form are tried: nodes, what they take, and a way back. In a trial (place_form.c)
 * or on paper (empty_nodes.c), by the same search (arrange.h).
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/arena.h"
#include "core/model/form.h"
#include "core/model/ids.h"
#include "core/model/node.h"
#include "core/model/pool.h"
#include "core/state/state.h"

#include <stdbool.h>
#include <stdint.h>

struct nodeset;

struct nodeset_ops {
    /* How many instances of a leaf, at most `max`, the node takes now. */
    uint32_t (*takes)(struct nodeset *nodeset, uint32_t leaf, const struct node *node,
                      uint32_t max);
    /* By what nodes are ordered for it: packed, the least first; spread, the most. */
    int64_t (*order)(struct nodeset *nodeset, uint32_t leaf, const struct node *node);
    /* One goes there, which takes it; and back: the newest one does not. */
    void (*take)(struct nodeset *nodeset, uint32_t leaf, const struct node *node, uint32_t index);
    void (*undo)(struct nodeset *nodeset);
    /* Places equal instances of a leaf anywhere in the pool, all or none, faster than by asking each node; NULL: there is no such
     * way. */
    bool (*anywhere)(struct nodeset *nodeset, uint32_t leaf, const uint32_t *indices,
                     uint32_t count);
    /* Which domain is tried first for so many: that with the least. NULL: the fullest. */
    uint64_t (*rank)(struct nodeset *nodeset, uint32_t leaf, domain_id domain, uint32_t count);
};

struct nodeset {
    const struct nodeset_ops *ops;
    const struct core *core;
    const struct pool *pool;
    const struct form *form;
    struct arena *arena;
    bool spread;
    const struct node **at; /* by instance: the node where it is, or goes; NULL: not known */
    uint32_t *placed;       /* the instances placed here, in order */
    uint32_t placed_count;
};

/* For the ops: an instance was placed, or the newest is taken back. */
void nodeset_placed(struct nodeset *nodeset, const struct node *node, uint32_t index);
uint32_t nodeset_taken_back(struct nodeset *nodeset);

/* Back to where `placed_count` was that. */
void nodeset_back(struct nodeset *nodeset, uint32_t placed_count);
