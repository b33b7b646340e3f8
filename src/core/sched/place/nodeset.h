/* nodeset.h - the nodes on which arrange() tries the instances of a gang with a form, how many instances each node takes, and a way
 * back. One kind of nodeset places in a trial (place_form.c). The other kind places on nodes as if nothing ran there (empty_nodes.c).
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
    /* The number by which nodes are ordered for a leaf: the lowest first, with `spread` the highest first. */
    int64_t (*order)(struct nodeset *nodeset, uint32_t leaf, const struct node *node);
    /* take() places an instance on a node, which must take the instance. undo() takes back the newest placement. */
    void (*take)(struct nodeset *nodeset, uint32_t leaf, const struct node *node, uint32_t index);
    void (*undo)(struct nodeset *nodeset);
    /* Places equal instances of a leaf anywhere in the pool, all or none. This is faster than to ask each node. NULL: the nodeset has
     * no such way. */
    bool (*anywhere)(struct nodeset *nodeset, uint32_t leaf, const uint32_t *indices,
                     uint32_t count);
    /* With `count` above 0 takes() counts only nodes on which so many instances would stay within what the task's accounts may take now;
     * 0 ends this. False: the accounts bound nothing that differs between nodes. NULL: they never do. */
    bool (*even)(struct nodeset *nodeset, uint32_t count);
    /* The number by which domains are ordered for `count` instances of a leaf: the lowest first. NULL: the fullest domain first. */
    uint64_t (*rank)(struct nodeset *nodeset, uint32_t leaf, domain_id domain, uint32_t count);
};

struct nodeset {
    const struct nodeset_ops *ops;
    const struct core *core;
    const struct pool *pool;
    const struct form *form;
    struct arena *arena;
    bool spread;            /* nodes in descending order, and one instance at a time */
    const struct node **at; /* by instance: its node, before or by this search; NULL: none */
    uint32_t *placed;       /* the instances that this search has placed, in order */
    uint32_t placed_count;
};

/* The functions of nodeset_ops call these. nodeset_placed() notes a placement. nodeset_taken_back() removes the newest note and returns its instance. */
void nodeset_placed(struct nodeset *nodeset, const struct node *node, uint32_t index);
uint32_t nodeset_taken_back(struct nodeset *nodeset);

/* Takes back the newest placements until `placed_count` of them are left. */
void nodeset_back(struct nodeset *nodeset, uint32_t placed_count);
