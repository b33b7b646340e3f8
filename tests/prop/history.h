/* history.h - random inputs: pools, nodes, tasks, reports, time.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "world.h"

/* Makes one more thing happen. */
void history_step(struct world *world);

/* Makes the first steps: a server starts, perhaps with nodes and an organisation. */
void history_begin(struct world *world);

/* P8, P9: a refusal names what would be accepted, and what can never run is refused. The last step was this
 * submission. */
void history_submitted(struct world *world, const struct submission *submit, enum verdict verdict);

/* Returns the amount of the spec that a reason is about, for a change; NULL: the reason is not
 * about an amount of the spec. */
int64_t *spec_amount(struct world *world, struct task_spec *spec, const struct reason *reason);
