/* history.h - random inputs: pools, nodes, tasks, reports, time.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "world.h"

/* One more thing happens. */
void history_step(struct world *world);

/* The first steps: a server starts, perhaps with nodes and an organisation. */
void history_begin(struct world *world);

/* The amount of the spec that a reason is about, to be changed; NULL: not one of its own. */
int64_t *spec_amount(struct world *world, struct task_spec *spec, const struct reason *reason);
