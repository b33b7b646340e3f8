/* tally.h - what accounts hold within a trial, now and later. Each entry of the trial changes the amounts:
 *
 *            a start    a claim    an eviction
 *   now         +                                   limits and guarantees bound these amounts (P3)
 *   later       +          +           -            limits bound these, too; order, shares and reclaim read these
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

/* The last views of VIEW_LATER that a trial wrote to: what happened since a reader's last look. */
enum { TALLY_WRITTEN_MAX = 64 };

struct tally {
    const struct core *core;
    struct shares *shares;    /* shares->views are the accounts in the view VIEW_LATER */
    struct account_view *now; /* the same accounts in the view VIEW_NOW, with the same indices */
    struct user_caps users;
    uint64_t writes;                     /* how often a view of VIEW_LATER was written to */
    uint32_t written[TALLY_WRITTEN_MAX]; /* the index of the view, by `writes` modulo the size */
    int64_t slots_full; /* slots of all nodes of the pool: so large a guarantee is no bound */
};

/* Fills the tally from the state, claims included. The tally changes the accounts of `shares`, which must live as long as the tally.
 * Shares that a share tree keeps for the whole core are restored by tally_done(); shares made for one tally alone need no tally_done(). */
void tally_init(struct tally *tally, const struct core *core, pool_id pool, struct shares *shares,
                struct arena *arena);
void tally_done(struct tally *tally);

/* Adds the amounts of one instance of the task to the task's accounts and user in a view. With sign -1 the function subtracts. */
void tally_move(struct tally *tally, const struct task *task, enum view view,
                const struct vector *amounts, int sign);

/* May the task's accounts take `request` more? VIEW_NOW asks for a start, which must pass now and later. VIEW_LATER asks for a claim,
 * which must pass later. */
struct gate_result tally_gate(const struct tally *tally, const struct task *task, enum view view,
                              const struct vector *request);

/* Would the account whose view has this index be above its limit with `request` more? VIEW_NOW checks now and later, VIEW_LATER checks
 * later only. */
bool tally_over_limit(const struct tally *tally, uint32_t index, enum view view,
                      const struct vector *request);

/* Would `request` more bring the task's user above the pool's cap per user? The views are checked as in tally_over_limit(). */
bool tally_user_capped(const struct tally *tally, const struct task *task, enum view view,
                       const struct vector *request);

/* What the task's accounts may still take in each dimension; in slots also what the task's user may still take. VECTOR_UNLIMITED is no
 * bound. False: no dimension has a bound. */
bool tally_left(const struct tally *tally, const struct task *task, enum view view,
                struct vector *ret);

/* Is it certain that neither a limit, a guarantee nor a user's cap bounds this task, whatever it requests? */
bool tally_unbounded(const struct tally *tally, const struct task *task);

/* The view of the task's account in VIEW_LATER. */
struct account_view *tally_view(const struct tally *tally, const struct task *task);
