/* first_bound.h - what falls free of a project's own bounds, or of its user's cap, is kept for the first task that waits for it.
 *
 * Of those in a project's queue the first that found no place, or may not have one, has waited for the pool's patience and could run
 * if the project held nothing: what stands behind it starts only within what it leaves of the bounds (P7). Room on nodes is kept by
 * reservations (blocked.h); this is the same for quotas. Bounds further up are shared with other projects: bound_above.h.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/model/task.h"
#include "core/model/vector.h"
#include "core/sched/order/view.h"
#include "core/sched/place/trial.h"

#include <stdbool.h>
#include <stdint.h>

struct first_bound {
    const struct task *task;
    struct vector amounts; /* that it waits for */
};

/* Is it such a task, with its next `count` instances, at this moment? NULL: no. The result lives in the trial's arena. */
const struct first_bound *first_bound_new(struct trial *trial, const struct task *task,
                                          uint32_t count, int64_t now_ms);

/* The same whether or not its project has bounds. */
const struct first_bound *first_bound_of(struct trial *trial, const struct task *task,
                                         uint32_t count, int64_t now_ms);

/* Counts what it waits for as held (1), or no longer (-1). */
void first_bound_count(struct trial *trial, const struct first_bound *first, int sign);

/* Does it hold back a task behind it that asks for so much? `first` may be NULL. */
bool first_bound_holds(struct trial *trial, const struct first_bound *first,
                       const struct task *task, enum view view, const struct vector *amounts);

/* The one ahead of a task in its project's queue that holds it back, as far as the state says, however long that has waited; NULL:
 * there is none. `*ret_any`: there is some that might. */
const struct task *first_bound_ahead(struct trial *trial, const struct task *task,
                                     const struct vector *amounts, bool *ret_any);
