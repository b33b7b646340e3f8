/* history.h - random inputs: pools, nodes, tasks, reports, time.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "world.h"

/* Makes one more thing happen. */
void history_step(struct world *world);

/* Makes the first steps: a server starts, perhaps with nodes and an organisation. */
void history_begin(struct world *world);

/* Returns the amount of the spec that a reason is about, for a change; NULL: the reason is not
 * about an amount of the spec. */
int64_t *spec_amount(struct world *world, struct task_spec *spec, const struct reason *reason);
