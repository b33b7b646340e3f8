/* laws.h - P1 to P9 over a run of the simulator, after every step of it, judged by tests/prop/oracle.h.
 *
 * What a step starts, evicts, accepts or refuses is judged each time. What must be so of the whole state (every row of it, nothing that
 * idles, a reason for every wait) costs as much as there is in it: with a budget of rows, it is looked at as often as that pays for,
 * the same moments in every run. SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "ledger.h"
#include "sim/engine.h"

/* Of one kind of check: what it may cost so far. */
struct laws_credit {
    uint64_t rows;
    uint64_t count; /* how often it was made */
    uint64_t left_out;
};

struct laws {
    uint64_t rows_a_step; /* 0: everything after every step */
    struct ledger ledger;
    struct arena arena;
    struct map
        *taken;    /* "victim.claimant" -> 1 + the news at which the one left for the other (P6) */
    uint64_t news; /* what came from outside: arrivals, ends, edits, losses */
    uint64_t steps;
    int64_t now_ms; /* the core's time in the last of them */
    uint64_t starts;
    uint64_t evictions;
    uint64_t submitted;
    uint64_t refused;
    struct laws_credit state; /* core_check() */
    struct laws_credit rest;  /* pools at rest: P4, P5, P6, P7 */
    struct laws_credit why;   /* reasons: P8 */
};

void laws_init(struct laws *laws, uint64_t rows_a_step);
void laws_done(struct laws *laws);

/* For engine_options. */
struct watcher laws_watcher(struct laws *laws);

/* One line about what was looked at. */
void laws_say(const struct laws *laws);
