/* score.h - how well a node suits a request by the pool's placement, as an exact fraction from 0 to 1; higher is preferred.
 *
 *   pack     1 / (1 + free)      the fuller, the better
 *   spread   free / total        the emptier, the better
 *   tight    as pack: what tight goes by first (waste.h) is no property of one node
 *
 * of what the request is measured by (score_resource()): slots, a named resource, cpu, memory, or places for tasks without slots. A
 * node that has none of it at all scores 0. The search does not ask every node for its score; it walks an index in an order that
 * gives the same among nodes of one size.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/model/resource.h"
#include "core/model/space.h"
#include "core/model/spec.h"

#include <stdint.h>

struct score {
    int64_t over;
    int64_t under; /* above 0 */
};

/* The resource by whose free amount nodes are ordered for a request: slots, else the first named one, else cpu, else memory, else
 * RESOURCE_AUX. */
uint16_t score_resource(const struct request *request);

/* What is free of a resource, RESOURCE_AUX included; 0 where the node has none. */
int64_t score_free(const struct space *place, uint16_t resource);

struct score score_of(enum pool_placement placement, const struct space *place,
                      const struct request *request);

/* Below 0: a is the lower one. */
int score_compare(struct score a, struct score b);
