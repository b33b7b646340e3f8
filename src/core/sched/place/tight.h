/* tight.h - placement `tight`: the node on which a request wastes least (waste.h).
 *
 * The first difference orders two nodes for a request: the smaller growth of the waste, the smaller free amount of the request's
 * measure, the smaller hash of the node profile, the lower id. Nodes of one profile differ in the id only. So the search walks
 * profiles (tight_index.h) instead of nodes. With caches off a scan of all nodes finds the same node.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/model/limits.h"
#include "core/model/node.h"
#include "core/model/resource.h"
#include "core/model/space.h"
#include "core/model/typical_use.h"
#include "core/sched/order/view.h"
#include "core/sched/place/overlay.h"

#include <stdint.h>

/* The rank of a node profile for a request. Lower is better. The members are compared from the first to the last. */
struct tight_rank {
    int64_t growth;   /* of the waste, if a node of the profile takes the request */
    int64_t free;     /* free amount of the request's measure */
    uint64_t profile; /* hash of the profile */
};

/* The best node that takes `count` instances of the asker. NULL: there is no such node. */
const struct node *tight_first(struct overlay *overlay, const struct asker *asker, uint32_t count);

/* Copies a request without its labels, without the nodes that it avoids and without `wide`: the waste does not depend on these. */
void tight_plain(const struct request *request, struct request *ret);

/* ---- for the index ---- */

enum { TIGHT_WORDS_MAX = 13 + 3 * NODE_RESOURCES_MAX + NODE_DEVICES_MAX / 4 };

/* Writes the profile of a node to `ret`, and returns the number of words. Nodes with equal words are alike for every request that names no
 * devices. The words are the pool, the totals, the free amounts, the free parts of the devices in descending order, and the typical
 * requests that the node's labels allow. */
uint32_t tight_words(const struct typical_uses *uses, const struct space *place, uint64_t *ret);

/* What is free on a node in a view, with the changes of the step. */
void tight_place(const struct overlay *overlay, const struct node *node, enum view view,
                 struct space *ret);
