/* tight.h - placement `tight`: the node on which a request wastes least (waste.h).
 *
 * The order of nodes for a request: growth of the waste; then, where that is equal, free amount of what the request is measured by,
 * fewest first; then the state of the node as a number; then its id. Nodes of one state differ only in the last, so the search looks at
 * states (tight_index.h), not at nodes. With caches off a scan finds the same.
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

/* What decides between two states; lower is better, compared from the first to the last. */
struct tight_rank {
    int64_t growth;
    int64_t free;
    uint64_t state;
};

/* The best node that takes `count` such instances; NULL: there is none. */
const struct node *tight_first(struct overlay *overlay, const struct asker *asker, uint32_t count);

/* The request without what is about one node or about the task as a whole. */
void tight_plain(const struct request *request, struct request *ret);

/* ---- for the index ---- */

enum { TIGHT_WORDS_MAX = 13 + 3 * NODE_RESOURCES_MAX + NODE_DEVICES_MAX / 4 };

/* What makes two nodes alike for every request that names no devices: pool, totals, what is free, devices in order of what is free of
 * them, and which of the typical requests its labels allow. Returns the number of words. */
uint32_t tight_words(const struct typical_uses *uses, const struct space *place, uint64_t *ret);

/* A node in a view, as far as the step has come. */
void tight_place(const struct overlay *overlay, const struct node *node, enum view view,
                 struct space *ret);
