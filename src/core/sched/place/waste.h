/* waste.h - how much of what is idle on a node is of no use to what is usually asked of its pool.
 *
 * For each typical request (core/model/typical.h): were the node filled with as many of them as fit, so many of its idle slots
 * would be left over. The waste is
 *
 *       Σ weight · (left / idle)² · h(idle)      h(idle) = idle · c / (c + √idle)
 *
 * The square: slots that some request can use to the full are worth more than slots of which every request leaves a part. The root:
 * a few slots left over here and a few there are worse than the same number in one place, so that what is in use is filled up
 * before more is begun. A request for another kind of node (labels, named resources, memory of devices) counts idle slots as they are:
 * wherever they lie, they are of no use to it, and taking them costs it nothing (docs/dev/adr/0011 has the figures).
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/model/ids.h"
#include "core/model/resource.h"
#include "core/model/space.h"
#include "core/model/typical_use.h"

#include <stdint.h>

struct core;
void waste_uses_load(struct typical_uses *uses, const struct core *core, pool_id pool);

/* What is wasted of a place, in thousandths of slots times weights; 0 where nothing is idle or nothing is known. */
int64_t waste_of(const struct typical_uses *uses, const struct space *place);

/* By how much the waste grows when so many such instances, which must fit, are put there. Nothing that belongs to one node only
 * counts: `plain` is a request as tight_plain() makes it. */
int64_t waste_growth(const struct typical_uses *uses, const struct space *place, int64_t waste,
                     const struct request *plain, uint32_t count);
