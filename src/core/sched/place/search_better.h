/* search_better.h - nodes that placements `pack` and `spread` prefer to the first node of the order.
 *
 * The order of nodes is by free amounts of one resource (search.h). Four preferences are none of this order:
 *
 *   1 a part of a device goes where a device is shared already and has room (`pack`)
 *   2 a task without slots that requests cpu or memory goes to a node without slots
 *   3 a task that requests nothing goes to the node with the best score (score.h): a node whose slots are in use counts by its slots
 *   4 a task with slots goes to the node with the largest free part, if nodes differ in size (`spread`)
 *
 * A preferred node is looked for among few nodes only, so that a placement costs the same in a large pool.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/model/node.h"
#include "core/sched/place/overlay.h"

#include <stdint.h>

/* The node that the placement prefers for `count` instances of the asker to `first`, the first node of the order that takes them;
 * `first` where there is none among the next SEARCH_LEVEL_MAX nodes. */
const struct node *search_better(struct overlay *overlay, const struct asker *asker, uint32_t count,
                                 const struct node *first);
