/* reserve.h - the places kept for the task that has waited longer than its pool's patience (P7).
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/model/resource.h"
#include "core/model/shape.h"
#include "core/model/task.h"
#include "core/sched/place/overlay.h"
#include "core/sched/place/trial.h"
#include "core/state/state.h"

#include <stdbool.h>
#include <stdint.h>

/* Could `count` instances of this shape run together on the nodes that may take work, if nothing
 * else ran there? */
bool reserve_possible(const struct overlay *overlay, const struct shape *shape, uint32_t count);

/* Who holds a reservation. */
struct holder {
    const struct task *task;
    const struct request *request;
    uint32_t count;   /* instances that start together */
    int64_t until_ms; /* when it was to start when it was given the reservation; 0: nobody knew */
    bool learned;     /* learned lengths say when others end, too */
    bool timed_only;  /* nothing is kept unless the start is known */
};

/* The task as a holder. */
struct holder reserve_holder(const struct core *core, const struct task *task, int64_t until_ms,
                             int64_t now_ms);

/* Keep the places on which the holder will start: those that are known to fall free soonest; where too few ends are known, those
 * where the newest instance that has to end is oldest; then those that wait for the fewest ends for each instance, then by node id.
 * Nodes kept for others do not count; where too few are left, nothing is kept. Computed from the state and what the step has placed,
 * nothing else, so that it comes out the same in the next pass as long as nothing changes. reserve_possible() must hold.
 * Returns when the holder starts at the latest; 0: nobody knows. */
int64_t reserve_keep(struct overlay *overlay, const struct holder *holder);

/* The same for a task whatever its form. A gang with a form keeps its places by age, and only where nobody else keeps any. Where there
 * are several choices of what comes next (form_chunk.h) it is the first that could be: reserve_form_open() says whether one could that
 * its accounts let start. */
bool reserve_form_possible(const struct trial *trial, const struct task *task);
bool reserve_form_open(const struct trial *trial, const struct task *task);
int64_t reserve_form_task(struct trial *trial, const struct holder *holder);
