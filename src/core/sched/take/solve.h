/* solve.h - the search for victims: which running tasks must leave so that a waiting task fits, and where every task is afterwards.
 *
 *   grow:    one piece after the other joins the set of victims, until the claimant would fit
 *   place:   the claimant takes its places
 *   shrink:  a piece that can stay where it is stays; the piece that joined last is asked first
 *   move:    a piece that finds another place is moved, not lost
 *   judge:   do the rules allow what is lost? If not, the set grows on
 *
 * Nothing is evicted unless the same decision places the claimant (P6). The budget counts the pieces and instances that the search
 * looks at. A search that reaches its budget ends without an answer.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/model/task.h"
#include "core/sched/order/account.h"
#include "core/sched/order/reclaim_rules.h"
#include "core/sched/place/trial.h"
#include "core/sched/take/victims.h"

#include <stdbool.h>
#include <stdint.h>

enum solve_result {
    SOLVE_FOUND,  /* the evictions and the claims are in the trial */
    SOLVE_NONE,   /* no victims in this order make room; the trial is as it was */
    SOLVE_BUDGET, /* the search ended at its budget; the trial is as it was */
};

struct solve_ask {
    enum victims_of of;
    struct claimant claimant;
    const struct task *task;
    const uint32_t *indices; /* the waiting instances of the task that need places together */
    uint32_t count;
    uint32_t passes;    /* holders whose kept places the task may use, one bit each (rights.h) */
    uint32_t moved_max; /* VICTIMS_OF_ALL: how many pieces may be moved */
};

struct solve;

/* What searches for victims in this trial share, for any number of claimants. The result lives in the trial's arena. */
struct solve *solve_new(struct trial *trial, int64_t now_ms);

/* The trial has placed something since the last search: what was derived from the trial's nodes is not true any more. */
void solve_refresh(struct solve *solve);

/* Searches for victims for one claimant. `*work` grows by the work done. A search in the order of pieces stops at `work_max`; a search
 * node by node has limits of its own. */
enum solve_result solve_run(struct solve *solve, const struct solve_ask *ask, uint64_t work_max,
                            uint64_t *work);

/* Claims places that are free once all leaving instances have left. Evicts nothing. False: there are not enough such places, and the
 * trial is as it was. */
bool solve_set_later(struct solve *solve, const struct solve_ask *ask);

/* How many slots (thousandths) of the pool's usable nodes are free once all leaving instances have left. */
int64_t solve_idle_milli(struct solve *solve);

/* An upper bound on the slots (thousandths) of a piece of the account or of an account below. */
int64_t solve_piece_max(struct solve *solve, const struct account_view *account);

/* When the first minimum runtime ends that protects a piece which the search met; INT64_MAX: the search met no protected piece. */
int64_t solve_wake_ms(const struct solve *solve);
