/* search.h - the order in which nodes are tried, and the first node that fits. Placement `pack` tries the node with the smallest free
 * amount of the request's measure first, placement `spread` the node with the largest. Equal nodes are tried by id.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/model/ids.h"
#include "core/model/node.h"
#include "core/model/resource.h"
#include "core/model/space.h"
#include "core/sched/order/view.h"
#include "core/sched/place/overlay.h"

#include <stdint.h>

/* The first node that takes `count` instances of the asker. NULL: there is no such node. */
const struct node *search_first(struct overlay *overlay, const struct asker *asker, uint32_t count);

/* Returns how many instances of the asker fit the node that takes the most of them, counted up to
 * `max`. */
uint32_t search_most(struct overlay *overlay, const struct asker *asker, uint32_t max);

/* Returns how many instances of the asker fit all nodes together, counted up to `max`. */
uint32_t search_total(struct overlay *overlay, const struct asker *asker, uint32_t max);

/* The next node by id behind `after` that has exactly `free` free of the request's measure and takes `count` instances. NULL: none of
 * the next SEARCH_LEVEL_MAX nodes is such a node. */
enum { SEARCH_LEVEL_MAX = 64 };
const struct node *search_level(struct overlay *overlay, const struct asker *asker, int64_t free,
                                node_id after, uint32_t count);

/* How many instances of the asker, at most `max`, a node takes with the changes of the step. */
uint32_t search_takes(const struct overlay *overlay, const struct node *node,
                      const struct asker *asker, uint32_t max);

/* How many of `count` instances on a node stay within what the asker's accounts may still take of slots, cpu and memory. The node decides
 * how much cpu and memory comes with a slot, and how many slots a part of a device by memory is. */
uint32_t search_within(const struct node *node, const struct asker *asker, uint32_t count);

/* overlay.c calls this when an instance with this request changes the free amounts of a node in a view from `old` to `new`. */
void search_moved(struct overlay *overlay, enum view view, const struct space *old,
                  const struct space *new, const struct request *request);

/* search_step() walks the nodes by their free amount of the asker's measure: with `up` from the smallest amount above 0, else from the
 * largest down. `*at` is the position of the walk, SEARCH_BOTTOM or SEARCH_TOP at the beginning. NULL: there are no more nodes. */
struct search_at {
    uint64_t free;
    uint64_t node;
};
#define SEARCH_BOTTOM ((struct search_at){0, 0})
#define SEARCH_TOP ((struct search_at){UINT64_MAX, UINT64_MAX})
const struct node *search_step(struct overlay *overlay, const struct asker *asker,
                               struct search_at *at, bool up);
