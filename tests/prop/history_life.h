/* history_life.h - pools that are closed, deleted and restored. SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "world.h"

/* Now and then a pool is closed, deleted, restored, given a provider, or has been deleted for a day. */
void life_roll(struct world *world);

/* The laws of the life cycle that hold after each step: nothing starts in a pool that is not open, and the tasks of a deleted pool are
 * unavailable and all there. */
void life_check(struct world *world);
