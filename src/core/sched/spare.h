/* spare.h - nodes that a pool keeps out of use until another node is lost.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/model/input.h"
#include "core/model/pool.h"
#include "core/state/fact.h"

#include <stdint.h>

struct core;

/* How many spare nodes the pool lacks. A pool that is not open keeps none. */
uint32_t spare_lacks(const struct pool *pool);

/* Makes idle nodes spare where the pool lacks spare nodes, the largest first, and gives spare nodes back where it has too
 * many. For the end of a pass that found no more places. */
void spare_settle(const struct core *core, const struct pool *pool, const struct input *in,
                  struct facts *out);
