/* shares.h - the accounts that want or hold something in a pool, and their fair shares: each level of the tree divides what its
 * parent got, for each accounted resource by itself (fairshare.h).
 *
 * An account without work in the pool has no part in it: it has no demand, so the division gives it nothing.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/arena.h"
#include "core/model/ids.h"
#include "core/model/vector.h"
#include "core/sched/order/account.h"

#include <stdint.h>

struct core;

enum { SHARES_NONE = UINT32_MAX };

/* Where an account stands among the others. */
struct shares_link {
    account_id id;
    account_id parent;     /* 0: none */
    uint32_t child_first;  /* SHARES_NONE: no account below it has work here */
    uint32_t sibling_next; /* ascending by age; SHARES_NONE: the last */
};

struct shares {
    struct account_pool pool;
    uint32_t count;
    uint32_t top_first;
    struct account_view *views; /* ascending by account */
    struct shares_link *links;  /* in the same places, as what follows */
    struct vector *held;        /* what each holds, what is leaving included */
};

/* Everything as the state has it; `allocated` is without what is leaving. Lives in the arena. */
struct shares *shares_compute(const struct core *core, pool_id pool, struct arena *arena);

/* The view of an account; NULL: it has no work in the pool. */
struct account_view *shares_view(const struct shares *shares, account_id account);

/* The fair share of an account of one accounted resource of the pool, as it is now: for those who show it. */
int64_t shares_of(const struct core *core, account_id account, pool_id pool, uint32_t dim);
