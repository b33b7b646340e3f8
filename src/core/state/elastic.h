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

/* How many nodes the pool's provider keeps and brings up: none in a pool that is closed or deleted. */
uint32_t elastic_min(const struct pool *pool);
uint32_t elastic_max(const struct pool *pool);

/* A node as the pool's provider brings nodes up, without work. */
void elastic_flavor(const struct pool *pool, struct node *ret);

/* How many nodes the pool's provider can still bring up, with the nodes on their way. */
uint32_t elastic_nodes_to_come(const struct pool *pool);

/* The node of launch 7 of pool `burst` joins as `burst-7`. The number in the name of a node; false: there is none. */
bool elastic_node_number(const char *pool, const char *node, uint64_t *ret);

/* A launch has changed; `before` is the row before the change. Id 0 in a row: there is no such row. Updates the counts of
 * the pool, the orders and the link from the node to the launch. */
void elastic_launch_close(struct core *core, const struct launch *before,
                          const struct launch *after);

/* A node has changed: notes since when it has no work, and by when it should have none. */
void elastic_node_close(struct core *core, const struct node *node, const struct node *before);

/* Computes anew when a node of the pool may go. */
void elastic_shrink_update(struct core *core, pool_id pool);

/* The launch whose node may go now. NULL: none may go. Above the maximum a machine that the provider has not brought up
 * yet goes first, then the node that has had no work for longest, then the newest machine whose agent has not joined. */
const struct launch *elastic_shrink_first(const struct core *core, const struct pool *pool);

/* Keeps the provider's words about the last launch that failed; "": none. */
void elastic_refusal_set(struct core *core, pool_id pool, const char *words);

/* The provider's words about one of the pool's launches are others now. The pool shows the last words, until they are
 * taken back or a node joins. */
void elastic_words(struct core *core, pool_id pool, const char *before, const char *after);

/* When the last launch of the pool failed; 0: none has failed since the last one that joined. */
int64_t elastic_failed_ms(const struct pool *pool);

/* Notes that a launch failed, with the provider's words; or that one has joined. Launches that were asked for before the
 * last failure count with that failure: a provider that refuses ten nodes at once has failed once. */
void elastic_failed(struct core *core, const struct launch *launch, int64_t now_ms,
                    const char *words);
void elastic_joined(struct core *core, pool_id pool);

/* May the next node of the pool be replaced, or does the replacement end? */
bool elastic_replaces(const struct pool *pool);

/* Computes anew when the replacement of the pool's nodes goes on. */
void elastic_replace_update(struct core *core, pool_id pool);

/* Why the node is not what the pool's provider should bring up; NULL: it is. */
const char *elastic_short(const struct pool *pool, const struct node *node);

/* The row of a removed node leaves the state. */
void elastic_node_forget(struct core *core, node_id id);
