/* waste.h - how much of a node's idle slots is of no use to the typical requests of its pool (core/model/typical.h).
 *
 * Fill the node with as many instances of one typical request as fit. `left` is the number of idle slots that remain. The waste is
 * the sum over all typical requests:
 *
 *       Σ weight · (left / idle)² · h(idle)      h(idle) = idle · c / (c + √idle)
 *
 * The square: slots that one request can use in full are worth more than slots of which every request leaves a part. The root: a few
 * idle slots on each of two nodes are worse than the same number on one node. So nodes in use are filled before idle nodes are begun.
 * A typical request for another kind of node (by labels, named resources or memory of devices) adds weight · idle: idle slots of this
 * node are of no use to that request, and using them costs it nothing. docs/dev/adr/0011 has the figures.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/model/ids.h"
#include "core/model/resource.h"
#include "core/model/space.h"
#include "core/model/typical_use.h"

#include <stdint.h>

struct core;

/* Makes the typical requests of a pool ready for waste_of(). `uses` borrows rows of the state. */
void waste_uses_load(struct typical_uses *uses, const struct core *core, pool_id pool);

/* The waste of a node with these free amounts, in thousandths of slots times weights. The waste is 0 if no slot is idle, or if the pool
 * has no typical requests. */
int64_t waste_of(const struct typical_uses *uses, const struct space *place);

/* The growth of the waste if `count` instances of `plain`, which must fit, are placed on the node. `waste` is the waste before the
 * placement. `plain` is a request that tight_plain() made. */
int64_t waste_growth(const struct typical_uses *uses, const struct space *place, int64_t waste,
                     const struct request *plain, uint32_t count);
