/* oracle_tally.c - what the scheduler counts for each account is what the rows of instances say.
 * SPDX-License-Identifier: Apache-2.0 */
#include "law.h"
#include "oracle.h"

#include "core/sched/place/trial.h"

static void vectors_compare(const struct core *core, const struct vector *counted,
                            const struct vector *summed, const char *what)
{
    for (uint32_t dim = 0; dim < query_dim_count(core); dim++) {
        law(counted->at[dim] == summed->at[dim], what);
    }
}

void oracle_tally(const struct ledger *ledger, pool_id pool)
{
    struct arena arena;
    struct trial trial;
    arena_init(&arena);
    trial_init(&trial, ledger->core, pool, &arena);
    const struct shares *shares = trial.tally.shares;
    for (uint32_t i = 0; i < shares->count && pool.v < ledger->pools; i++) {
        const struct holdings *held = ledger_held(ledger, shares->links[i].id, pool);
        const struct holdings *later = ledger_held_later(ledger, shares->links[i].id, pool);
        vectors_compare(ledger->core, &trial.tally.now[i].allocated, &held->held,
                        "an account holds now what its instances hold");
        vectors_compare(ledger->core, &shares->views[i].allocated, &later->held,
                        "an account holds later what stays and what is promised");
        vectors_compare(ledger->core, &trial.tally.now[i].fixed, &held->fixed,
                        "what is fixed now is held by tasks that are not preemptible");
        vectors_compare(ledger->core, &shares->views[i].fixed, &later->fixed,
                        "what is fixed later stays, or is promised");
    }
    trial_done(&trial);
    arena_done(&arena);
}
