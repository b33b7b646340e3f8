/* history_wait.h - the changes that explanations name, tried out.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "world.h"

/* P8: in a settled pool each task that is told an amount with which it would start does start with that, and not with more;
 * where only time is said to be missing, that time changes something; a priority that is said to help gives it a place. */
void waits_check(struct world *world, pool_id pool);
