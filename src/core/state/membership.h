/* membership.h - which pool a node belongs to by its labels.
 *
 * A node follows its labels when neither its agent nor a provider named its pool. Such a node belongs to the first
 * pool, in the order in which the pools were made, whose selector the node's labels satisfy; else to `default`. All of
 * this is derived and never stored.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/model/blob.h"
#include "core/model/node.h"
#include "core/model/oindex.h"
#include "core/model/pool.h"

#include <stdbool.h>
#include <stdint.h>

struct core;
struct pool_spec;

/* The pool to which labels with these marks belong; NULL: no selector matches, and there is no pool `default`.
 * `*ret_matches` is the number of selectors that match. */
const struct pool *membership_pool(const struct core *core, const struct blob *marks,
                                   uint32_t *ret_matches);

/* The next pool, by id, whose selector matches the labels of the node; id 0: there is none. */
pool_id membership_match_next(const struct core *core, const struct node *node, pool_id after);

/* The next node, by id, that belongs to the pool and that several selectors match; NULL: there is none. */
const struct node *membership_contested_next(const struct core *core, pool_id pool, node_id after);

/* How many nodes several selectors match, in all pools. */
uint64_t membership_contested_count(const struct core *core);

/* Takes the node out of the index of labels, before its labels change; puts it in again, and finds its pool anew. The
 * row of the node is open. */
void membership_node_leave(struct core *core, struct node *node);
void membership_node_join(struct core *core, struct node *node);

/* A node has changed: keeps the orders of nodes that are to move and of contested nodes. */
void membership_node_close(struct core *core, const struct node *node, const struct node *before);

/* Sets the selector of a pool (`spec` NULL: none), and finds the pools of the nodes anew that the old selector or the
 * new one matches. */
void membership_pool_set(struct core *core, pool_id pool, const struct pool_spec *spec);

/* The node leaves its pool as soon as it is empty, and the node is empty. */
bool membership_may_move(const struct node *node);
struct okey membership_move_key(const struct node *node);

/* The fact node-moved: an empty node goes to another pool. */
struct fact;
void membership_moved(struct core *core, const struct fact *fact);
