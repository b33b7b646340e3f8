/* paid.h - what the pools' budgets paid during a run: for how many holders, and for which losses.
 *
 * What the idle budget pays while it is full and gets more than it pays is not counted: it takes nothing from the budget.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/vec.h"
#include "core/core.h"

/* Amounts are thousandths of slots times milliseconds. */
struct paid_sums {
    uint64_t holders;  /* how often places began to be kept for a task */
    uint64_t released; /* how often the idle budget ended that */
    int64_t idle;
    uint64_t decisions; /* passes whose evictions the loss budget paid */
    int64_t loss;
};

struct paid_pool {
    struct reservation reserved[RESERVATIONS_MAX];
    uint32_t reserved_count;
    struct bucket loss; /* as the last fact wrote it */
};

struct paid {
    VEC(struct paid_pool) pools; /* by pool id */
    struct paid_sums sums;
};

void paid_done(struct paid *paid);

/* Called after a fact was applied. */
void paid_fact(struct paid *paid, const struct fact *fact);

/* Returns the idle slots, in thousandths, that the pool keeps for waiting tasks and pays for. */
int64_t paid_kept(const struct pool *pool, int64_t now_ms);

/* Counts the present state for so long. */
void paid_count(struct paid *paid, const struct core *core, int64_t now_ms, int64_t for_ms);
