/* elastic.h - what follows from the launches of a pool: how many there are, which of their nodes have no work, and when
 * a node may go.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/model/launch.h"
#include "core/model/node.h"
#include "core/model/pool.h"

struct core;

/* Does a provider bring nodes of the pool up? */
bool elastic_pool(const struct pool *pool);

/* A node as the pool's provider brings nodes up, without work. */
void elastic_flavor(const struct pool *pool, struct node *ret);

/* The node of launch 7 of pool `burst` joins as `burst-7`. The number in the name of a node; false: there is none. */
bool elastic_node_number(const char *pool, const char *node, uint64_t *ret);

/* A launch has changed; `before` is the row before the change. Id 0 in a row: there is no such row. Updates the counts of
 * the pool, the orders and the link from the node to the launch. */
void elastic_launch_close(struct core *core, const struct launch *before,
                          const struct launch *after);

/* A node has changed: notes since when it has no work. */
void elastic_node_close(struct core *core, const struct node *node, const struct node *before);

/* Computes anew when a node of the pool may go. */
void elastic_shrink_update(struct core *core, pool_id pool);

/* The launch whose node may go now: the one that has had no work for longest. NULL: none may go. */
const struct launch *elastic_shrink_first(const struct core *core, const struct pool *pool);

/* The provider's words about one of the pool's launches are others now. The pool shows the last words, until they are
 * taken back or a node joins. */
void elastic_words(struct core *core, pool_id pool, const char *before, const char *after);

/* Notes that a launch failed, with the provider's words; or that one has joined. */
void elastic_failed(struct core *core, pool_id pool, int64_t now_ms, const char *words);
void elastic_joined(struct core *core, pool_id pool);
