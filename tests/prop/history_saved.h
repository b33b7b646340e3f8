/* history_saved.h - tasks that report checkpoints.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "world.h"

/* Now and then an attempt reports a checkpoint: in time, late, early, twice, by another clock,
 * or after its end. */
void saved_roll(struct world *world);
