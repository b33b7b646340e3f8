/* history_saved.h - tasks that save what they have done.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "world.h"

/* Once in a while one that runs, or did, says that it has saved: late, early, twice, by another clock, of an attempt that was. */
void saved_roll(struct world *world);
