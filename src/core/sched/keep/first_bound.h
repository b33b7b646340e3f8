/* first_bound.h - quota of a project, or of a user's cap, is kept for the first task of the project that waits for it.
 *
 * The first task of a project that does not start keeps the quota if it has waited for the pool's patience and could run if the
 * project held nothing. Tasks behind that task in the project start only within what the bounds leave beside it (P7). Reservations do the
 * same for room on nodes (hold.h). Bounds of accounts above the project are in bound_above.h.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/model/task.h"
#include "core/model/vector.h"
#include "core/sched/order/view.h"
#include "core/sched/place/trial.h"

#include <stdbool.h>
#include <stdint.h>

/* How long a task waits before quota is kept for it, in a pool with patience `auto`: kept quota leaves no node idle for others. */
enum { QUOTA_PATIENCE_MS = 60000 };

struct first_bound {
    const struct task *task;
    struct vector amounts; /* of the instances for which the task waits */
};

/* The task with its next `count` instances, if quota of its project is kept for it at `now_ms`; else NULL. The result lives in the
 * trial's arena. */
const struct first_bound *first_bound_new(struct trial *trial, const struct task *task,
                                          uint32_t count, int64_t now_ms);

/* As first_bound_new(), also where neither the project nor the user has a bound. */
const struct first_bound *first_bound_of(struct trial *trial, const struct task *task,
                                         uint32_t count, int64_t now_ms);

/* Counts the amounts as held by the task (sign 1), or no longer (sign -1). */
void first_bound_count(struct trial *trial, const struct first_bound *first, int sign);

/* Is the quota that `task` needs for these amounts kept for `first`? False where `first` is NULL or the task itself. */
bool first_bound_holds(struct trial *trial, const struct first_bound *first,
                       const struct task *task, enum view view, const struct vector *amounts);

/* The task ahead of `task` in its project for which the quota is kept that `task` needs. NULL: none. Read from the state alone, as if
 * the patience were over. `*ret_any`: some task ahead would keep quota from a task with other amounts. */
const struct task *first_bound_ahead(struct trial *trial, const struct task *task,
                                     const struct vector *amounts, bool *ret_any);
