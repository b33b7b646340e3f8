/* ground.h - where the instances of a gang with a form are tried: nodes, what they take, and a way back. In a trial (place_form.c)
 * or on paper (paper.c), by the same search (arrange.h).
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/arena.h"
#include "core/core_internal.h"

struct ground;

struct ground_ops {
    /* How many instances of a leaf, at most `max`, the node takes now. */
    uint32_t (*takes)(struct ground *ground, uint32_t leaf, const struct node *node, uint32_t max);
    /* By what nodes are ordered for it: packed, the least first; spread, the most. */
    int64_t (*order)(struct ground *ground, uint32_t leaf, const struct node *node);
    /* One goes there, which takes it; and back: the newest one does not. */
    void (*take)(struct ground *ground, uint32_t leaf, const struct node *node, uint32_t index);
    void (*undo)(struct ground *ground);
    /* Places equal instances of a leaf anywhere in the pool, all or none, faster than by asking each node; NULL: there is no such
     * way. */
    bool (*anywhere)(struct ground *ground, uint32_t leaf, const uint32_t *indices, uint32_t count);
    /* Which domain is tried first for so many: that with the least. NULL: the fullest. */
    uint64_t (*rank)(struct ground *ground, uint32_t leaf, domain_id domain, uint32_t count);
};

struct ground {
    const struct ground_ops *ops;
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
void ground_placed(struct ground *ground, const struct node *node, uint32_t index);
uint32_t ground_taken_back(struct ground *ground);

/* Back to where `placed_count` was that. */
void ground_back(struct ground *ground, uint32_t placed_count);
