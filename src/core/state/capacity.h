/* capacity.h - which nodes of a pool have how much free: an index beside the state, so that placing
 * does not scan all nodes, and the memory of what did not fit. A cache: never stored, never
 * compared, changes cost only. The core owns one, tells it of every change of a node row, and asks
 * nothing.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/model/ids.h"
#include "core/model/node.h"
#include "core/model/oindex.h"
#include "core/model/shape.h"

#include <stdbool.h>
#include <stdint.h>

struct capacity;
struct core;

struct capacity *capacity_new(void);
void capacity_free(struct capacity *capacity); /* NULL is fine */

/* Another one with the same content, sharing memory until one of them writes. What was remembered
 * of misses is not taken along. */
struct capacity *capacity_copy(const struct capacity *capacity);

/* A node row has changed: apply() calls it after each change of free amounts, totals, state,
 * draining or pool, with the row as it was (NULL: there was none) and as it is. Rebuilding after
 * state_decode(): once per node with before = NULL. Does nothing when neither may take work. */
void capacity_changed(struct capacity *capacity, const struct node *before,
                      const struct node *after);

/* An instance on the node ends at another time than was known, while its row stays as it is. */
void capacity_ends_changed(struct capacity *capacity, node_id node);

/* Something that did not fit may fit now for another cause: a place is no longer promised. */
void capacity_freed(struct capacity *capacity, pool_id pool);

/* Nodes of the pool are in other domains of its topology: together they may hold something else. */
void capacity_resized(struct capacity *capacity, pool_id pool);

/* A completed pass over this pool has just been applied, or had nothing to say: what it learned is remembered until something
 * falls free in the pool. apply() of FACT_PASS with `complete` and apply_pool_idle() call it. */
void capacity_settled(struct core *core, pool_id pool);

/* ---- for the scheduler ---- */

/* Zero-slot instances count like one more resource of a node. */
enum { RESOURCE_AUX = UINT16_MAX };

/* The keys, ascending: CAPACITY_KEY(pool, resource), free amount, node, 0. Only nodes that may take
 * work, only amounts above 0. */
#define CAPACITY_KEY(pool, resource) ((uint64_t)(pool).v << 32 | (uint64_t)(resource))
const struct oindex *capacity_order(const struct capacity *capacity);

/* Further indices of the scheduler over the same nodes (tight_index.c, wait_index.c): each is made when it is first asked for, told
 * of every node whose row changes (`ends`: and of every node on which an instance ends at another time), freed with this one. */
enum capacity_part {
    CAPACITY_TIGHT_NOW,
    CAPACITY_TIGHT_LATER,
    CAPACITY_WAITS,
};
enum { CAPACITY_PART_COUNT = CAPACITY_WAITS + 1 };
struct capacity_part_ops {
    void *(*make)(void);
    void (*free)(void *part);
    void (*note)(void *part, node_id node);
    bool ends;
};
void *capacity_part(struct capacity *capacity, enum capacity_part part,
                    const struct capacity_part_ops *ops);

/* How many instances of a shape the nodes of its pool would hold if nothing ran there: at least so many, or (`all`) not one more.
 * Known until a node of the pool comes, goes, or becomes another. Both do nothing without a capacity. */
void capacity_empty_note(struct capacity *capacity, const struct shape *shape, uint32_t count,
                         bool all);
/* Would they hold `count`? False: that is not known. */
bool capacity_empty_takes(const struct capacity *capacity, const struct shape *shape,
                          uint32_t count, bool *ret);

/* The nodes on which something fell free are logged, so that what fits on no node is tried only on
 * those that were logged since that was found. The scheduler notes it while it decides, which is
 * sound whether its facts are applied or not: it logs the nodes that its own step had touched. */
enum { FREED_LOG_MAX = 64 };

uint64_t capacity_log_end(const struct capacity *capacity);
void capacity_log_add(struct capacity *capacity, pool_id pool, node_id node);
/* The next of the pool's logged nodes from position `*at` on, which goes on; 0: no more. */
node_id capacity_log_next(const struct capacity *capacity, pool_id pool, uint64_t *at);

/* No node but those logged from `at` on takes one instance of the shape. */
void capacity_no_node_note(struct capacity *capacity, const struct shape *shape, uint64_t at);
bool capacity_no_node(const struct capacity *capacity, const struct shape *shape, uint64_t *ret_at);

/* A pass that has just been decided learned these shapes to fit nowhere, counted from so many instances together. It holds when the
 * facts of the pass have been applied and the state has `seq` of them: until then nothing is remembered. */
void capacity_learn(struct capacity *capacity, pool_id pool, uint64_t seq);
void capacity_learn_miss(struct capacity *capacity, shape_id shape, uint32_t from);

/* Did so many instances of this shape fit nowhere when that was last learned, and has nothing fallen free in the pool since? */
bool capacity_missed(const struct capacity *capacity, const struct shape *shape, uint32_t count);
