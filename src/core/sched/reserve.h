/* reserve.h - the places kept for the task that has waited longer than its pool's patience (P7).
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/sched/trial.h"

/* Could `count` instances of this request run together on the nodes that may take work, if nothing
 * else ran there? */
bool reserve_possible(const struct overlay *overlay, const struct request *request, uint32_t count);

/* Keep the places on which `count` instances of the holder will start: those where the newest
 * instance that has to end is oldest, then those that wait for the fewest ends for each instance,
 * then by node id. Computed from the state and what the step has placed, nothing else, so that it comes out
 * the same in the next pass as long as nothing changes. reserve_possible() must hold. */
void reserve_keep(struct overlay *overlay, const struct request *request, uint32_t count);

/* The same for the next instances of a task, whatever its form. */
bool reserve_task_possible(const struct overlay *overlay, const struct task *task);
void reserve_task(struct trial *trial, const struct task *task);
