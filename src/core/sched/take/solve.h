/* solve.h - room for a waiting task: which running ones have to go, and where everybody is afterwards.
 *
 *   grow:    one piece after the other leaves, until the claimant would fit
 *   place:   the claimant takes its places
 *   shrink:  who can stay where it is stays, last taken first
 *   move:    who finds another place is moved, not lost
 *   judge:   may what is lost be taken? If not, grow on
 *
 * Nothing is evicted unless the same decision places the claimant (P6). Work is counted in pieces looked at; the budget ends a
 * search without an answer.
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
    SOLVE_FOUND,  /* the trial has it: evictions, claims */
    SOLVE_NONE,   /* no victims in this order make room; the trial is as it was */
    SOLVE_BUDGET, /* the same, but not all was looked at */
};

struct solve_ask {
    enum victims_of of;
    struct claimant claimant;
    const struct task *task;
    const uint32_t *indices; /* of the waiting instances that want a place together */
    uint32_t count;
    uint32_t passes;    /* holders whose kept places they may use (rights.h) */
    uint32_t moved_max; /* VICTIMS_OF_ALL: tasks that may be moved */
};

struct solve;

/* A search over this trial, to be used for many claimants. Lives in the trial's arena. */
struct solve *solve_new(struct trial *trial, int64_t now_ms);

/* Make room. `*work` grows by what was looked at; a search ends without an answer when it has grown by `work_max`. */
enum solve_result solve_run(struct solve *solve, const struct solve_ask *ask, uint64_t work_max,
                            uint64_t *work);

/* Places for these instances that are free when those who are leaving have left; false: there are not enough. */
bool solve_set_later(struct solve *solve, const struct solve_ask *ask);

/* Slots (thousandths) that will be free on the nodes that take work, all together. */
int64_t solve_idle_milli(struct solve *solve);

/* See victims.h. */
int64_t solve_piece_max(struct solve *solve, const struct account_view *account);
int64_t solve_wake_ms(const struct solve *solve);
