/* rest.h - a pool without arrivals comes to rest: passes, and agents that obey at once (P6).
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "world.h"

/* P2: all groups of a running gang have their minimum. Holds where no node is lost. */
void rest_gangs(const struct core *core);

/* One pass. Returns whether anything was decided. */
bool rest_pass(struct world *world, pool_id pool);

/* Lets instances report: all at once, or only some of them. Returns whether any did. */
bool rest_answer(struct world *world, bool all);

/* Passes and answers until five rounds in a row change nothing, which must come. */
void rest_reach(struct world *world, pool_id pool);
