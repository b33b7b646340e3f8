/* fairness.h - do accounts get what they were promised? For each project and pool: how many slots it
 * lacked of the smaller of its guarantee and its demand, and for how long.
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
    int64_t below_ms;
    int64_t below_longest_ms;
};

/* Of projects with a guarantee that somebody set. */
struct fairness {
    VEC(struct promise) promises;
};

/* Every project and pool whose guarantee somebody set. Again after a quota was changed. */
void fairness_watch(struct fairness *fairness, const struct core *core);
void fairness_done(struct fairness *fairness);

/* What holds now holds until `until_ms`. */
void fairness_count(struct fairness *fairness, const struct core *core, int64_t now_ms,
                    int64_t until_ms);

/* The largest figures of a project over its pools. */
struct promise fairness_of(const struct fairness *fairness, account_id account);
