/* laws.h - P1 to P9 and the two budgets over a run of the simulator, judged by tests/prop/oracle.h. P7: laws_wait.h.
 *
 * Every start, eviction, submission and refusal is judged. Laws about the whole state (every
 * row, nothing idle, a reason for every wait) cost as much as the state is large. With a budget
 * of rows these laws are checked as often as the budget allows, at the same moments in every
 * run.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "laws_wait.h"
#include "ledger.h"
#include "oracle_budget.h"
#include "record.h"
#include "sim/engine.h"

/* The budget of one kind of check. */
struct laws_credit {
    uint64_t rows;
    uint64_t count; /* how often the check was made */
    uint64_t left_out;
};

struct laws {
    uint64_t rows_a_step; /* 0: make every check after every step */
    struct ledger ledger;
    struct arena arena;
    struct map *taken; /* "victim.claimant" -> 1 + the value of `news` at the eviction (P6) */
    uint64_t news;     /* counts inputs from outside: arrivals, ends, edits, losses */
    uint64_t steps;
    int64_t now_ms; /* the core's time at the last input */
    uint64_t starts;
    uint64_t evictions;
    uint64_t submitted;
    uint64_t refused;
    struct laws_credit state; /* core_check() */
    struct laws_credit rest;  /* pools at rest: P4, P5, P6, P7 */
    struct laws_credit why;   /* reasons: P8 */
    struct oracle_budgets budgets;
    struct laws_wait wait; /* P7; judged where every check is made after every step */
    struct record record;  /* what reasons, rows and shares were whenever P8 was checked */
};

void laws_init(struct laws *laws, uint64_t rows_a_step);
void laws_done(struct laws *laws);

/* Returns the watcher for engine_options. */
struct watcher laws_watcher(struct laws *laws);

/* Prints one line about what was checked, and one with the number of the record. */
void laws_say(const struct laws *laws);
