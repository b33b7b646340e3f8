/* fairness.h - do accounts get what they were promised?
 *
 * The shortfall of a project in a pool: how many slots it lacked of the smaller of its guarantee
 * and its demand, and for how long. A project also lacks slots when no task fits what is left of
 * its guarantee. Beside the shortfall: how long work waited that was owed a place
 * (core/sched/explain/owed.h) and had no promise.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/vec.h"
#include "core/core.h"

struct promise {
    account_id account;
    pool_id pool;
    int64_t lacking_milli; /* slots lacking since the last moment */
    int64_t since_ms;      /* since when slots are lacking */
    int64_t shortfall_milli;
    int64_t shortfall_ms;
    int64_t shortfall_longest_ms;
    bool may_be_owed;      /* by amounts alone, something may be owed */
    bool owed;             /* something is owed since the last moment */
    int64_t owed_since_ms; /* begin of the time without a break */
    int64_t below_ms;
    int64_t below_longest_ms;
    int64_t promised_longest_ms; /* longest time from the promise of a place to the start there */
};

/* An instance that has the promise of a place. */
struct promised {
    task_id task;
    account_id account;
    pool_id pool;
    uint32_t index;
    int64_t since_ms;
};

/* The figures of all projects with a guarantee that was set. */
struct fairness {
    VEC(struct promise) promises;
    VEC(struct promised) places;
    int64_t until_ms;   /* everything is counted up to here */
    struct arena arena; /* cleared for each moment */
};

void fairness_init(struct fairness *fairness);

/* Watches every project and pool whose guarantee was set. Called again after a quota has
 * changed. */
void fairness_watch(struct fairness *fairness, const struct core *core);
void fairness_done(struct fairness *fairness);

/* Notes a FACT_CLAIMED: an instance gets the promise of a place. */
void fairness_claimed(struct fairness *fairness, const struct core *core,
                      const struct attempt_key *key, int64_t now_ms);

/* Counts the present state from now until `until_ms`. `core_ms` is the core's time now. */
void fairness_count(struct fairness *fairness, const struct core *core, int64_t core_ms,
                    int64_t now_ms, int64_t until_ms);

/* How long a project has lacked some of its guarantee, and was owed a place, up to `at_ms`,
 * which is not before the last moment counted. The larger figure of its pools. */
struct fairness_times {
    int64_t short_ms;
    int64_t below_ms;
};
struct fairness_times fairness_times_at(const struct fairness *fairness, account_id account,
                                        int64_t at_ms);

/* Returns the largest figures of a project over its pools. */
struct promise fairness_of(const struct fairness *fairness, account_id account);
