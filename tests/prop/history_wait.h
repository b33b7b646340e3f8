/* history_wait.h - tries out the changes that explanations name.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "world.h"

/* P8, in a settled pool. A task with a named amount starts with this amount and not with more.
 * If only time is missing, something changes when the time has passed. A named priority gives
 * the task a place. */
void waits_check(struct world *world, pool_id pool);
