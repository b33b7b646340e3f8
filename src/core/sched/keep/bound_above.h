/* bound_above.h - what falls free of the bounds of a department, or of any account above projects, is kept for one of their first tasks.
 *
 * Of the first tasks of the projects below it that have waited for the pool's patience and could run if nothing else did, the one
 * that has waited longest: what others below it would take starts only within what that one leaves (P7). The same as first_bound.h,
 * where the queues of several projects meet; there is no common order but age.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/model/task.h"
#include "core/model/vector.h"
#include "core/sched/order/view.h"
#include "core/sched/place/trial.h"

#include <stdbool.h>
#include <stdint.h>

struct bounds_above;

/* As the state has it; NULL: no project that waits has such a bound above it. Lives in the trial's arena. */
struct bounds_above *bound_above_find(struct trial *trial, int64_t now_ms);

/* The one for whom is kept what the task asks for; NULL: nobody. `above` may be NULL. */
const struct task *bound_above_holder(struct trial *trial, const struct bounds_above *above,
                                      const struct task *task, enum view view,
                                      const struct vector *amounts);

/* The task has got a place: nothing is kept for it any more. `above` may be NULL. */
void bound_above_placed(struct bounds_above *above, const struct task *task);

/* Is something kept for another, above the task's project, or would be if it were not for the task? */
bool bound_above_any(const struct trial *trial, const struct bounds_above *above,
                     const struct task *task);
