/* capacity.h - which nodes of a pool have how much free: an index beside the state, so that placing does not
 * scan all nodes. The index also remembers which shapes did not fit. The index is a cache: never stored,
 * never compared, and it changes cost only. The core owns one capacity and tells it of every change of a
 * node's row.
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

/* A copy with the same index. Original and copy share memory until one of them writes. The copy remembers no
 * misses. */
struct capacity *capacity_copy(const struct capacity *capacity);

/* A node's row has changed: `before` is the old row (NULL: there was none), `after` the new row.
 * change_node_close() calls this after every change of a node. */
void capacity_changed(struct capacity *capacity, const struct node *before,
                      const struct node *after);

/* The known end of an instance on the node has changed, and the node's row has not. */
void capacity_ends_changed(struct capacity *capacity, node_id node);

/* Something that did not fit may fit now although no node has more free: for instance a promise was dropped. */
void capacity_freed(struct capacity *capacity, pool_id pool);

/* The domains of the pool's topology or the labels of a node have changed, so a task may fit on empty nodes that did not fit
 * before, and the other way round. */
void capacity_resized(struct capacity *capacity, pool_id pool);

/* A complete pass over this pool has just been applied, or gave no facts. What the pass learned is remembered
 * until something becomes free in the pool. */
void capacity_settled(struct core *core, pool_id pool);

/* ---- for the scheduler ---- */

/* The places for zero-slot instances are indexed like one more resource of a node. */
enum { RESOURCE_AUX = UINT16_MAX };

/* The index. Its keys are CAPACITY_KEY(pool, resource), free amount, node, 0. The index has only nodes that
 * may take work and only amounts above 0. */
#define CAPACITY_KEY(pool, resource) ((uint64_t)(pool).v << 32 | (uint64_t)(resource))
const struct oindex *capacity_order(const struct capacity *capacity);

/* Further indices of the scheduler over the same nodes (tight_index.c, wait_index.c). A part is made at its
 * first use and freed with the capacity. `note` is called for every node whose row changes; with `ends` also
 * for every node on which the known end of an instance changes. */
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

/* Remembers how many instances of a shape the empty nodes of its pool would hold: at least `count`; with
 * `all` exactly `count`. Forgotten when a node of the pool comes, goes or gets other totals. `capacity` may
 * be NULL. */
void capacity_empty_note(struct capacity *capacity, const struct shape *shape, uint32_t count,
                         bool all);
/* Would the empty nodes of the pool hold `count` instances of the shape? The answer is in `*ret`. False:
 * unknown. */
bool capacity_empty_takes(const struct capacity *capacity, const struct shape *shape,
                          uint32_t count, bool *ret);

/* A log of the nodes on which something became free. A shape that fits no node is tried again only on nodes
 * that were logged since. The scheduler notes such a shape while it decides. The note stays true even if the
 * facts of the decision are never applied, because the scheduler logs the nodes that its own step touched. */
enum { FREED_LOG_MAX = 64 };

uint64_t capacity_log_end(const struct capacity *capacity);
void capacity_log_add(struct capacity *capacity, pool_id pool, node_id node);
/* The next logged node of the pool from position `*at` on; `*at` moves behind that position. 0: there are no
 * more. */
node_id capacity_log_next(const struct capacity *capacity, pool_id pool, uint64_t *at);

/* Remembers that no node takes one instance of the shape, except nodes that are logged from position `at` on.
 * capacity_no_node() gives `at` back; false: nothing is remembered. */
void capacity_no_node_note(struct capacity *capacity, const struct shape *shape, uint64_t at);
bool capacity_no_node(const struct capacity *capacity, const struct shape *shape, uint64_t *ret_at);

/* A pass that has just been decided learned which shapes fit nowhere. capacity_learn() begins a list for the
 * pool, capacity_learn_miss() adds a shape of which `from` or more instances together did not fit. The list
 * takes effect only when the facts of the pass have been applied, that is when the state has `seq` facts. */
void capacity_learn(struct capacity *capacity, pool_id pool, uint64_t seq);
void capacity_learn_miss(struct capacity *capacity, shape_id shape, uint32_t from);

/* Is it remembered that `count` instances of this shape do not fit, and has nothing become free in the pool
 * since? */
bool capacity_missed(const struct capacity *capacity, const struct shape *shape, uint32_t count);
