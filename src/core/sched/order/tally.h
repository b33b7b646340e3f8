/* tally.h - what accounts hold within a trial, now and later, as the trial has changed it so far.
 *
 *            a start    a claim    an eviction
 *   now         +                                   what P3 bounds: nothing starts beyond it
 *   later       +          +           -            what order, shares and reclaim look at
 *
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/arena.h"
#include "core/model/ids.h"
#include "core/model/task.h"
#include "core/model/vector.h"
#include "core/sched/order/account.h"
#include "core/sched/order/gates.h"
#include "core/sched/order/shares.h"
#include "core/sched/order/user_cap.h"
#include "core/sched/order/view.h"
#include "core/state/state.h"

#include <stdbool.h>
#include <stdint.h>

struct tally {
    const struct core *core;
    struct shares *shares;    /* its views are the accounts later */
    struct account_view *now; /* the same accounts now, in the same places */
    struct user_caps users;
    int64_t slots_full; /* of the pool, all its nodes: a guarantee of that much is no bound */
};

/* As the state has it, claims included. `shares` must live as long, and is written to. */
void tally_init(struct tally *tally, const struct core *core, pool_id pool, struct shares *shares,
                struct arena *arena);

/* What one instance of the task takes, or gives back (sign -1), in a view. */
void tally_move(struct tally *tally, const struct task *task, enum view view,
                const struct vector *amounts, int sign);

/* May the task's accounts take `request` more: now and later, or (a claim) later? */
struct gate_result tally_gate(const struct tally *tally, const struct task *task, enum view view,
                              const struct vector *request);

/* Would an account (by the index of its view), with `request` more, be above its limit: now or later, or (a claim) later? */
bool tally_over_limit(const struct tally *tally, uint32_t index, enum view view,
                      const struct vector *request);

/* May the task's user take `request` more, likewise? */
bool tally_user_capped(const struct tally *tally, const struct task *task, enum view view,
                       const struct vector *request);

/* What the task's accounts, and of slots its user, may still take in each dimension; VECTOR_UNLIMITED: no bound. False: no dimension has one. */
bool tally_left(const struct tally *tally, const struct task *task, enum view view,
                struct vector *ret);

/* The account of a task as it will be. */
struct account_view *tally_view(const struct tally *tally, const struct task *task);
