/* histories.c - random histories of the core. Each runs with caches on, with caches off and with
 * restarts. The laws of design.md section 2 are checked all along. Whenever a pool has come to
 * rest, five more passes must change nothing.
 * SPDX-License-Identifier: Apache-2.0 */
#include "histories.h"

#include "history.h"

#include <inttypes.h>
#include <stdio.h>

enum { FACTS_PER_HISTORY = 120, STEPS_MAX = 4000, THOROUGH_ONCE_IN = 16 };

struct counts {
    uint64_t thorough;
    uint64_t facts;
    uint64_t evictions;
    uint64_t paid; /* decisions that the loss budget paid */
    uint64_t settled;
};

static void history_run(uint64_t seed, enum histories_of of, struct counts *counts)
{
    struct world world;
    const bool thorough = seed % THOROUGH_ONCE_IN == 0;
    prop_history(seed);
    world_init(&world, seed, thorough ? WORLD_THOROUGH : WORLD_TRIPLE);
    world.elastic = of == HISTORIES_GROUPS;
    world.listing = of == HISTORIES_LISTS;
    world.living = of == HISTORIES_LIVES;
    world.laws = LAWS_SUBMISSIONS | LAWS_TICKS;
    history_begin(&world);
    for (uint32_t i = 0; i < STEPS_MAX && world.fact_count < FACTS_PER_HISTORY; i++) {
        history_step(&world);
    }
    counts->thorough += thorough;
    counts->facts += world.fact_count;
    counts->evictions += world.evicted_count;
    counts->paid += world.budgets.judged;
    counts->settled += world.settled_count;
    world_done(&world);
}

void histories_run(const struct prop_run *run, enum histories_of of)
{
    struct counts counts = {0};
    for (uint64_t i = 0; i < run->histories; i++) {
        history_run(run->seed + i, of, &counts);
    }
    printf("%" PRIu64 " histories (%" PRIu64 " with a restart after each fact), %" PRIu64
           " facts, %" PRIu64 " evictions (%" PRIu64 " decisions paid by the loss budget), %" PRIu64
           " times at rest: all laws held\n",
           run->histories, counts.thorough, counts.facts, counts.evictions, counts.paid,
           counts.settled);
}
