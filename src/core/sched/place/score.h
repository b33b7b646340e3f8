/* score.h - how well a node suits a request by the pool's placement, as an exact fraction from 0 to 1. A higher score is preferred.
 *
 *   pack     1 / (1 + free)      the fuller node is better
 *   spread   free / total        the emptier node is better
 *   tight    the same as pack; the score leaves out the waste (waste.h), by which `tight` chooses first
 *
 * `free` and `total` are amounts of the request's measure, score_resource(). A node that has nothing of the measure scores 0. For a task
 * that requests nothing the amounts are slots on a node whose slots are in use, and places for such tasks on any other node. The search
 * walks an index whose order agrees with the scores among nodes of equal size; search_better() compares scores where it does not.
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

/* The measure of a request: the resource by whose free amount nodes are ordered. The measure is slots, else the first named resource,
 * else cpu, else memory, else RESOURCE_AUX. */
uint16_t score_resource(const struct request *request);

/* The free amount of a resource. RESOURCE_AUX counts places for tasks without slots. The result is 0 if the node lacks the resource. */
int64_t score_free(const struct space *place, uint16_t resource);

/* The score of a node with these free amounts for a request. */
struct score score_of(enum pool_placement placement, const struct space *place,
                      const struct request *request);

/* Below 0: `a` is the lower score. Above 0: `b` is the lower score. 0: both are equal. */
int score_compare(struct score a, struct score b);
