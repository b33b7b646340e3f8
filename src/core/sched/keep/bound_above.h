/* bound_above.h - quota below the limit of a department, or of any account above projects, is kept for one waiting task.
 *
 * Each project below the department has a first waiting task. The quota is kept for the one of these tasks that has waited longest,
 * if it has waited for the pool's patience and could run if nothing else did. Other tasks below the department start only within
 * what the limit leaves beside that task (P7). first_bound.h does the same inside one project. Several projects have no common order
 * but age.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/model/task.h"
#include "core/model/vector.h"
#include "core/sched/order/view.h"
#include "core/sched/place/trial.h"

#include <stdbool.h>
#include <stdint.h>

struct bounds_above;

/* Finds these tasks in the state. NULL: no waiting project has a limit above it. The result lives in the trial's arena. */
struct bounds_above *bound_above_find(struct trial *trial, int64_t now_ms);

/* The task for which the quota is kept that `task` would use with these amounts; NULL: none. `above` may be NULL. */
const struct task *bound_above_holder(struct trial *trial, const struct bounds_above *above,
                                      const struct task *task, enum view view,
                                      const struct vector *amounts);

/* Keeps no quota for this task any more, because the task got a place. `above` may be NULL. */
void bound_above_placed(struct bounds_above *above, const struct task *task);

/* Is quota above the task's project kept for another task, or would it be if this task did not wait? */
bool bound_above_any(const struct trial *trial, const struct bounds_above *above,
                     const struct task *task);
