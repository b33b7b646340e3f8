/* oindex.h - an ordered set of keys. A key is four 64-bit numbers. Every order of the core is such a set:
 * queues, deadlines, names by hash, nodes of a pool and so on.
 *
 * The set is a B+tree. Copies of a set share its tree nodes, which are reference-counted (atomically). A
 * change copies the shared tree nodes on its path. The keys of a set never depend on the order in which they
 * were inserted.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Keys are compared from the first number to the last. */
struct okey {
    uint64_t at[4];
};

struct oindex_node;

struct oindex {
    struct oindex_node *root; /* NULL: empty */
    uint64_t count;
};

void oindex_init(struct oindex *index);
void oindex_done(struct oindex *index);

/* Makes `to` (not initialised) a set with the same keys, in constant time. */
void oindex_copy(struct oindex *to, const struct oindex *from);

/* Inserting: false, the key was there already. Removing: false, the key was not there. False changes nothing. */
bool oindex_insert(struct oindex *index, struct okey key);
bool oindex_remove(struct oindex *index, struct okey key);

bool oindex_has(const struct oindex *index, struct okey key);

/* The first key >= `from`; the first key > `after`; the last key < `before`. False: there is none, and *ret
 * is unchanged. */
bool oindex_from(const struct oindex *index, struct okey from, struct okey *ret);
bool oindex_next(const struct oindex *index, struct okey after, struct okey *ret);
bool oindex_prev(const struct oindex *index, struct okey before, struct okey *ret);

/* A walk over ascending keys. The set must not change during the walk. Most steps stay in one leaf, so a walk
 * is cheaper than oindex_next(). */
struct oindex_walk {
    const struct oindex *index;
    const struct oindex_node *leaf;
    unsigned at;
};

/* oindex_walk_from() gives the first key >= `from`, oindex_walk_next() each key after that. False: there is
 * none, and *ret is unchanged. */
bool oindex_walk_from(struct oindex_walk *walk, const struct oindex *index, struct okey from,
                      struct okey *ret);
bool oindex_walk_next(struct oindex_walk *walk, struct okey *ret);

uint64_t oindex_count(const struct oindex *index);

/* Below 0: a stands before b. 0: they are equal. */
int oindex_key_compare(struct okey a, struct okey b);
