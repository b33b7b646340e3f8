/* search.h - the order in which nodes are tried, and the first that fits: fewest free of what the
 * request is measured by, then lowest id (pack); or most free first (spread).
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/model/ids.h"
#include "core/model/node.h"
#include "core/model/resource.h"
#include "core/model/space.h"
#include "core/sched/order/view.h"
#include "core/sched/place/overlay.h"

#include <stdint.h>

/* The first node that takes `count` such instances; NULL: there is none. */
const struct node *search_first(struct overlay *overlay, const struct asker *asker, uint32_t count);

/* The most instances, at most `max`, that any one node takes. */
uint32_t search_most(struct overlay *overlay, const struct asker *asker, uint32_t max);

/* The most instances, at most `max`, that all nodes together take. */
uint32_t search_total(struct overlay *overlay, const struct asker *asker, uint32_t max);

/* The next node behind `after`, by id, that has exactly `free` free of what the request is measured by and takes `count`; NULL:
 * none, or none among the next SEARCH_LEVEL_MAX. */
enum { SEARCH_LEVEL_MAX = 64 };
const struct node *search_level(struct overlay *overlay, const struct asker *asker, int64_t free,
                                node_id after, uint32_t count);

/* What a place has free of a resource (RESOURCE_AUX: places for tasks without slots). */
int64_t search_amount(const struct space *place, uint16_t resource);

/* How many such instances, at most `max`, a node takes as far as the step has come. */
uint32_t search_takes(const struct overlay *overlay, const struct node *node,
                      const struct asker *asker, uint32_t max);

/* How many of `count` instances on a node stay within what the asker's accounts may still take of cpu and memory, and of slots where
 * the node says how many. */
uint32_t search_within(const struct node *node, const struct asker *asker, uint32_t count);

/* For overlay.c: a node that had `old` free in a view has `new` there, because of an instance with
 * this request. */
void search_moved(struct overlay *overlay, enum view view, const struct space *old,
                  const struct space *new, const struct request *request);

/* The nodes from the one with most free of the asker's measure down; begin at SEARCH_TOP. NULL: there is no other. */
struct search_at {
    uint64_t free;
    uint64_t node;
};
#define SEARCH_TOP ((struct search_at){UINT64_MAX, UINT64_MAX})
const struct node *search_down(struct overlay *overlay, const struct asker *asker,
                               struct search_at *at);
