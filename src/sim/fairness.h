/* fairness.h - do accounts get what they were promised? For each project and pool: how many slots it
 * lacked of the smaller of its guarantee and its demand, and for how long (the shortfall: also for want of work that fits what
 * is left of the guarantee); and for how long work waited that was owed a place (core/sched/explain/owed.h) and promised none.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/vec.h"
#include "core/core.h"

struct promise {
    account_id account;
    pool_id pool;
    int64_t lacking_milli; /* since the last moment */
    int64_t since_ms;      /* from when on it lacks any */
    int64_t shortfall_milli;
    int64_t shortfall_ms;
    int64_t shortfall_longest_ms;
    bool may_be_owed;      /* something, as far as amounts tell */
    bool owed;             /* something, since the last moment */
    int64_t owed_since_ms; /* without a break */
    int64_t below_ms;
    int64_t below_longest_ms;
    int64_t promised_longest_ms; /* from the promise of a place to the start there */
};

/* An instance that is promised a place. */
struct promised {
    task_id task;
    account_id account;
    pool_id pool;
    uint32_t index;
    int64_t since_ms;
};

/* Of projects with a guarantee that somebody set. */
struct fairness {
    VEC(struct promise) promises;
    VEC(struct promised) places;
    int64_t until_ms;   /* counted up to here */
    struct arena arena; /* of one moment */
};

void fairness_init(struct fairness *fairness);

/* Every project and pool whose guarantee somebody set. Again after a quota was changed. */
void fairness_watch(struct fairness *fairness, const struct core *core);
void fairness_done(struct fairness *fairness);

/* FACT_CLAIMED: an instance is promised a place. */
void fairness_claimed(struct fairness *fairness, const struct core *core,
                      const struct attempt_key *key, int64_t now_ms);

/* What holds now holds until `until_ms`; `core_ms` is the core's time now. */
void fairness_count(struct fairness *fairness, const struct core *core, int64_t core_ms,
                    int64_t now_ms, int64_t until_ms);

/* How long a project has lacked some of its guarantee, and was owed a place, up to `at_ms`: a moment since the last one counted. The
 * larger of its pools. */
struct fairness_times {
    int64_t short_ms;
    int64_t below_ms;
};
struct fairness_times fairness_times_at(const struct fairness *fairness, account_id account,
                                        int64_t at_ms);

/* The largest figures of a project over its pools. */
struct promise fairness_of(const struct fairness *fairness, account_id account);
