/* consolidate.h - running tasks move closer together, so that the free slots of several nodes come together for a waiting task.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/sched/take/action.h"

/* One of the three actions of action.h. CHUNK_FAILED: no set of moves was found, or none is allowed; the trial is as it was. */
enum chunk_result consolidate_try(struct action *action, const struct chunk *chunk);

/* May tasks move for this claimant at all? False: too little is idle, or the pool's settings or its loss budget forbid moves. */
bool consolidate_may(const struct action *action, const struct claimant *claimant,
                     const struct task *task);
