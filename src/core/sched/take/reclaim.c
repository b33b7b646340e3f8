/* reclaim.c - an account takes back what it has a right to.
 *
 * Two cheap conditions come before the search for victims. The claimant's account must have a right to the chunk. The other
 * accounts must hold enough slots beyond their own rights. Most claimants fail one of the two.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core/sched/take/reclaim.h"

#include "base/checked.h"
#include "base/must.h"
#include "core/model/vector.h"
#include "core/sched/keep/budget.h"
#include "core/sched/order/account.h"
#include "core/sched/order/reclaim_rules.h"
#include "core/sched/order/shares.h"
#include "core/sched/take/solve.h"
#include "core/sched/take/victims.h"

/* How far `held` is above `bound`. 0 or below: not above, or there is no bound. */
static int64_t excess(int64_t held, int64_t bound)
{
    return bound == VECTOR_UNLIMITED ? -1 : held - bound;
}

/* The most slots that the accounts below `giver` can lose. `giver` is a sibling of `taker`, and `taker` is on the claimant's path.
 * A giver that is above its right in another dimension may lose all its slots. The last piece taken may reach below the right, so
 * the largest piece is added. */
static int64_t slots_losable(struct action *action, const struct claimant *claimant,
                             const struct account_view *taker, const struct account_view *giver)
{
    const uint32_t dims = claimant->pool->dims;
    const uint32_t others = ~(uint32_t)(1u << DIM_SLOTS);
    const int64_t held = giver->allocated.at[DIM_SLOTS];
    must(giver != taker);
    must(giver->parent == taker->parent);
    const bool within = account_within_guarantee(claimant->pool, taker, &claimant->request);
    uint32_t above = reclaim_rules_above_share(claimant->pool, giver, &giver->allocated);
    int64_t most = excess(held, giver->allocatable.at[DIM_SLOTS]);
    if (within) {
        const int64_t by_guarantee = excess(held, giver->guaranteed.at[DIM_SLOTS]);
        above |= vector_above(&giver->allocated, &giver->guaranteed, dims);
        most = by_guarantee > most ? by_guarantee : most;
    }
    if ((above & others) != 0) {
        return held;
    }
    if (most <= 0) {
        return 0;
    }
    most = i64_add(most, solve_piece_max(action->solve, giver) - 1);
    return most < held ? most : held;
}

/* Would the slots suffice if every account lost all that it can lose? */
static bool reachable(struct action *action, const struct claimant *claimant)
{
    const struct shares *shares = action->trial->tally.shares;
    const int64_t wanted = claimant->request.at[DIM_SLOTS];
    must(wanted >= 0);
    if (wanted == 0) {
        return true;
    }
    int64_t there = solve_idle_milli(action->solve);
    for (const struct account_view *taker = claimant->account; taker != NULL && there < wanted;
         taker = taker->parent) {
        uint32_t at = taker->parent == NULL ? shares->top_first
                                            : shares->links[taker->parent->index].child_first;
        for (; at != SHARES_NONE && there < wanted; at = shares->links[at].sibling_next) {
            const struct account_view *giver = &shares->views[at];
            there += giver == taker ? 0 : slots_losable(action, claimant, taker, giver);
        }
    }
    return there >= wanted;
}

enum chunk_result reclaim_try(struct action *action, const struct chunk *chunk)
{
    const struct solve_ask ask = {
        .of = VICTIMS_OF_OTHERS,
        .claimant = action_claimant(action, chunk),
        .task = chunk->task,
        .indices = chunk->indices,
        .count = chunk->count,
        .passes = chunk->passes,
    };
    must(action->pool->policy == POLICY_FAIR_SHARE);
    if (reclaim_rules_start(&ask.claimant) != CLAIM_MAY_START ||
        !(budget_affords(action->trial, 0, false) || action_guaranteed(&ask.claimant)) ||
        !reachable(action, &ask.claimant)) {
        return CHUNK_FAILED;
    }
    return action_solve(action, &ask, CLAIMANT_WORK_MAX);
}
