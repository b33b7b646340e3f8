/* shares.h - the accounts that have work in a pool, and their fair shares. Siblings divide the share of their parent. Each
 * dimension is divided by itself (fairshare.h).
 *
 * An account without work in the pool has no view here, because an account without demand gets no share.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/arena.h"
#include "core/model/ids.h"
#include "core/model/quota.h"
#include "core/model/vector.h"
#include "core/sched/order/account.h"
#include "core/sched/order/account_order.h"

#include <stdint.h>

struct share_tree;
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
    uint32_t count;             /* number of views; in a share tree some of them may be unused */
    uint32_t top_first;         /* index of the oldest top account; SHARES_NONE: none */
    struct account_view *views; /* ascending by account id, but not in a share tree */
    struct shares_link *links;  /* by the index of the view */
    struct vector *held;        /* by the index of the view: allocated, leaving amounts included */
    struct account_order_kept *keys; /* by the index of the view: for turns.c; NULL: not made yet */
    /* by the index of the view: may other accounts take from the account by share (account_above_right())? NULL: not kept */
    bool *rich;
    struct share_tree *tree; /* the share tree that has these shares; NULL: made for one use */
};

/* Computes views and shares of a pool from the state, in the arena. `allocated` of a view is without what is leaving. */
struct shares *shares_compute(const struct core *core, pool_id pool, struct arena *arena);

/* For shares.c and share_tree.c: the pool's totals; what a view has of its quota and of its usage; the demand of an account that is divided, at
 * most as much as a share can be; the next account that has work in the pool (0: none). */
void shares_pool_fill(const struct core *core, pool_id pool, struct account_pool *ret);
void shares_quota_fill(const struct quota *quota, struct account_view *ret);
void shares_usage_fill(const struct core *core, const struct usage *usage,
                       struct account_view *ret);
int64_t shares_demand(const struct account_pool *pool, const struct usage *usage, uint32_t dim);
account_id shares_account_next(const struct core *core, pool_id pool, account_id after);

/* The view of an account. NULL: the account has no work in the pool. */
struct account_view *shares_view(const struct shares *shares, account_id account);

/* The current fair share of an account in one dimension of the pool, by which the pass decides. */
int64_t shares_of(const struct core *core, account_id account, pool_id pool, uint32_t dim);

/* Returns the fair share of an account as people see it. Shown shares add up, which those of
 * shares_of() need not do: guarantees may promise more than the pool has, and the demand of a
 * department may be above the limits of its accounts. A department shows at most what the accounts
 * below can use. Where siblings together have shares above what their parent, or the pool, has,
 * each sibling shows a part in proportion. The cost grows with the number of accounts that have
 * work in the pool. */
int64_t shares_shown(const struct core *core, account_id account, pool_id pool, uint32_t dim);
