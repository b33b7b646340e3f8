/* reserve.h - the places that are kept for the holder of a reservation (P7).
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

/* Could `count` instances of this shape run together on the usable nodes if nothing else ran there? */
bool reserve_possible(const struct overlay *overlay, const struct shape *shape, uint32_t count);

/* A task that holds a reservation, or is about to. */
struct holder {
    const struct task *task;
    const struct request *request;
    uint32_t count;   /* instances that start together */
    int64_t until_ms; /* the start named with the reservation; 0: none was known */
    bool learned;     /* learned lengths count as known ends of other tasks */
    bool timed_only;  /* no place is kept unless the holder's start is known */
};

/* The task as a holder whose start was named as `until_ms`. */
struct holder reserve_holder(const struct core *core, const struct task *task, int64_t until_ms,
                             int64_t now_ms);

/* Keeps the places on which the holder will start. Returns when the holder starts at the latest; 0: not known. reserve_possible()
 * must hold. Where enough ends are known, the nodes are kept that become free soonest; else the nodes on which the newest instance
 * that has to end is oldest. Nodes kept for other holders do not count; if too few nodes are left, none is kept.
 * The choice depends on the state and the step's placements alone, so the next pass chooses the same while nothing changes. */
int64_t reserve_keep(struct overlay *overlay, const struct holder *holder);

/* reserve_possible() for the next instances of any task, with or without a form. */
bool reserve_form_possible(const struct trial *trial, const struct task *task);

/* Can places be kept for the task's next instances, within what its accounts may use? A gang whose groups have minimums may start in
 * several ways, and one way within the accounts is enough. */
bool reserve_form_open(const struct trial *trial, const struct task *task);

/* reserve_keep() for any task, with or without a form. A gang with a form waits for the nodes with the oldest instances, and keeps
 * nothing if places are kept for another holder. If its next instances can be chosen in several ways, the first way that is possible on
 * the pool's nodes counts. */
int64_t reserve_form_task(struct trial *trial, const struct holder *holder);
