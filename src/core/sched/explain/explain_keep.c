/* explain_keep.c - see explain_keep.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core/sched/explain/explain_keep.h"

#include "base/arena.h"
#include "base/must.h"
#include "core/model/bucket.h"
#include "core/sched/keep/budget.h"
#include "core/sched/keep/credit.h"
#include "core/sched/keep/hold.h"
#include "core/sched/keep/reserve.h"
#include "core/sched/order/tally.h"
#include "core/state/query.h"

/* The task needs a turn: does it have the credit? */
static bool turn_allows(const struct hold *hold, const struct task *task, struct explain_keep *ret)
{
    const struct trial *trial = hold->trial;
    const uint32_t beyond = credit_beyond(trial, task);
    if (beyond == 0) {
        return true;
    }
    for (const struct account_view *at = tally_view(&trial->tally, task); at != NULL;
         at = at->parent) {
        for (uint32_t dim = 0; dim < trial->tally.shares->pool.dims; dim++) {
            if ((beyond >> dim & 1u) != 0 && at->allocatable.at[dim] == 0) {
                ret->code = KEEPING_NO_SHARE;
                ret->account = trial->tally.shares->links[at->index].id;
                return false;
            }
        }
    }
    if (!credit_possible(trial, task, beyond)) {
        ret->code = KEEPING_NO_TURN;
        return false;
    }
    const int64_t full_ms = credit_full_ms(hold, task, beyond, &ret->account);
    if (full_ms > hold->now_ms) {
        ret->code = KEEPING_CREDIT;
        ret->until_ms = full_ms == INT64_MAX ? 0 : full_ms;
        return false;
    }
    return true;
}

/* Keeps the places of one holder in the trial. Returns what keeping them is expected to cost. */
static int64_t cost_of(struct trial *trial, const struct holder *holder, bool by_length)
{
    const uint32_t at = overlay_holder(&trial->overlay, holder->task);
    const int64_t until_ms = reserve_form_task(trial, holder);
    return until_ms != 0 && !by_length ? 0 : budget_drain(trial, at);
}

/* Does the idle budget cover the estimated cost, beside what the holders need? */
static void budget_ask(const struct hold *hold, const struct task *task, struct explain_keep *ret)
{
    const struct pool *pool = hold->pool;
    struct trial *trial = hold->trial;
    int64_t left = hold->level;
    for (uint32_t i = 0; i < pool->reserved_count; i++) {
        const struct task *other = query_task_in(hold->core, pool->id, pool->reserved[i].task);
        const struct holder holder =
            reserve_holder(hold->core, other, pool->reserved[i].until_ms, hold->now_ms);
        if (!task_promised(other) && other->waiting_count > 0 && reserve_form_open(trial, other)) {
            left = bucket_plus(left, -cost_of(trial, &holder, hold->by_length));
        }
    }
    struct holder holder = reserve_holder(hold->core, task, 0, hold->now_ms);
    holder.learned = hold->by_length;
    const int64_t cost =
        bucket_times(cost_of(trial, &holder, hold->by_length), (int64_t)1 << task->releases);
    if (cost > 0 && (hold->level <= 0 || left < cost)) {
        const int64_t wanted = bucket_plus(cost, bucket_plus(hold->level, -left));
        const int64_t enough_ms = budget_fills_ms(pool, hold->level, wanted, hold->now_ms);
        *ret = (struct explain_keep){.code = KEEPING_BUDGET,
                                     .level = left,
                                     .cost = cost,
                                     .until_ms = enough_ms == INT64_MAX ? 0 : enough_ms};
    }
}

static void keep_ask(struct trial *trial, const struct pool *pool, const struct task *task,
                     struct explain_keep *ret)
{
    struct hold hold;
    trial->overlay.now_ms = query_time_ms(trial->core);
    hold_init(&hold, trial->core, pool, trial);
    const int64_t patient_ms = hold_patient_until_ms(&hold, task);
    if (patient_ms > hold.now_ms) {
        ret->code = KEEPING_PATIENCE;
        ret->until_ms = patient_ms;
    } else if (turn_allows(&hold, task, ret) && pool->reserved_count < RESERVATIONS_MAX &&
               reserve_form_open(trial, task)) {
        budget_ask(&hold, task, ret);
    }
}

void explain_keep(const struct core *core, task_id id, const struct explanation *why,
                  struct explain_keep *ret)
{
    const struct task *task = query_task(core, id);
    const enum reason_code code = why->reason.code;
    *ret = (struct explain_keep){0};
    must(task != NULL);
    if (!explain_time_for_room(code) && code != REASON_OVER_SHARE && code != REASON_RESERVED) {
        return;
    }
    if (task->reserved) {
        ret->code = KEEPING_HOLDS;
        return;
    }
    if (!task->queued || task_promised(task) || code == REASON_RESERVED) {
        return; /* what is kept for another task is the reason, and not a missing budget */
    }
    struct arena arena;
    struct trial trial;
    arena_init(&arena);
    trial_init(&trial, core, task->pool, &arena);
    keep_ask(&trial, query_pool(core, task->pool), task, ret);
    trial_done(&trial);
    arena_done(&arena);
}
