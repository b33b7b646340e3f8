/* shares.h - the accounts that have work in a pool, and their fair shares. Siblings divide the share of their parent. Each
 * dimension is divided by itself (fairshare.h).
 *
 * An account without work in the pool has no view here, because an account without demand gets no share.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/arena.h"
#include "core/model/ids.h"
#include "core/model/vector.h"
#include "core/sched/order/account.h"

#include <stdint.h>

struct core;

enum { SHARES_NONE = UINT32_MAX };

/* The place of an account in the tree of accounts. */
struct shares_link {
    account_id id;
    account_id parent;     /* 0: a top account */
    uint32_t child_first;  /* index of the oldest child; SHARES_NONE: no child has work here */
    uint32_t sibling_next; /* index of the next younger sibling; SHARES_NONE: the last */
};

struct shares {
    struct account_pool pool;
    uint32_t count;
    uint32_t top_first;         /* index of the oldest top account; SHARES_NONE: none */
    struct account_view *views; /* ascending by account id */
    struct shares_link *links;  /* by the index of the view */
    struct vector *held;        /* by the index of the view: allocated, leaving amounts included */
};

/* Computes views and shares of a pool from the state, in the arena. `allocated` of a view is without what is leaving. */
struct shares *shares_compute(const struct core *core, pool_id pool, struct arena *arena);

/* The view of an account. NULL: the account has no work in the pool. */
struct account_view *shares_view(const struct shares *shares, account_id account);

/* The current fair share of an account in one dimension of the pool. Pages and commands that show shares call this. */
int64_t shares_of(const struct core *core, account_id account, pool_id pool, uint32_t dim);
