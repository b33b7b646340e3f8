/* oindex.h - an ordered set of keys of four 64-bit numbers: every order the core keeps (queues,
 * deadlines, names by hash, nodes of a pool, …) is one.
 *
 * A B+tree whose nodes copies share: reference-counted (atomically), and the path to a change is
 * copied while shared. What it holds depends only on what was put in, never on the order of it.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Compared from the first number to the last. */
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

/* `to` (not initialised) becomes a set with the same keys: constant time. */
void oindex_copy(struct oindex *to, const struct oindex *from);

/* False: it was there already (not there), nothing changed. */
bool oindex_insert(struct oindex *index, struct okey key);
bool oindex_remove(struct oindex *index, struct okey key);

bool oindex_has(const struct oindex *index, struct okey key);

/* The first key >= `from`, > `after`, < `before`; false: there is none, *ret untouched. */
bool oindex_from(const struct oindex *index, struct okey from, struct okey *ret);
bool oindex_next(const struct oindex *index, struct okey after, struct okey *ret);
bool oindex_prev(const struct oindex *index, struct okey before, struct okey *ret);

/* One key after the other, as long as the set does not change: few steps go down the tree. */
struct oindex_walk {
    const struct oindex *index;
    const struct oindex_node *leaf;
    unsigned at;
};

/* The first key >= `from`; then the next one, time and again. False: there is none, *ret untouched. */
bool oindex_walk_from(struct oindex_walk *walk, const struct oindex *index, struct okey from,
                      struct okey *ret);
bool oindex_walk_next(struct oindex_walk *walk, struct okey *ret);

uint64_t oindex_count(const struct oindex *index);

/* <0, 0, >0 */
int oindex_key_compare(struct okey a, struct okey b);
