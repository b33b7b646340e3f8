/* oracle_budget.h - the budgets of the pools, counted anew from what tasks hold and lose (S6.18, S10.11).
 *
 * The levels here are never below the true ones. What cannot be judged exactly is counted as free: a pool whose size or settings change has
 * full budgets again, and only what is surely idle for a holder, or surely charged as lost, is subtracted. So a budget that is
 * overdrawn here is overdrawn in the pool.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/vec.h"
#include "ledger.h"

/* The budgets of one pool, in thousandths of a slot times milliseconds. */
struct oracle_budget {
    int64_t at_ms;
    int64_t idle_fill; /* what the idle budget gets in each millisecond */
    int64_t idle;
    int64_t idle_pay; /* slots that are surely idle for holders since the last pass */
    int64_t loss_fill;
    int64_t loss;
};

struct oracle_budgets {
    VEC(struct oracle_budget) pools; /* by pool id */
    uint64_t judged;                 /* decisions that the loss budget paid */
    uint64_t paying;                 /* rests after which the idle budget pays */
};

void oracle_budgets_init(struct oracle_budgets *budgets);
void oracle_budgets_done(struct oracle_budgets *budgets);

/* Called after each input: time passes, and what a pass evicts is paid. */
void oracle_budgets_step(struct oracle_budgets *budgets, struct ledger *ledger,
                         const struct core *core, const struct input *in,
                         const struct facts *facts);

/* Called after a complete pass over the pool, with a ledger of that state. */
void oracle_budgets_rest(struct oracle_budgets *budgets, const struct ledger *ledger, pool_id pool,
                         int64_t now_ms);
