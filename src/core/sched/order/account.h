/* account.h - an account of one pool as the rules of sharing see it: guarantee, limit, share, and what the account holds.
 *
 * The rules (account_order, gates, reclaim_rules, runtime) read these structs and nothing else. So server, simulator and tests call
 * the same code. shares.c fills the structs from the state. tally.c keeps `allocated` and `fixed` current within a trial.
 *
 *      share         what the division gives the account now (fairshare.h)
 *      allocatable   the larger of guarantee and share, at most the limit
 *
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/model/vector.h"

#include <stdbool.h>
#include <stdint.h>

/* What all accounts of a pool have in common. */
struct account_pool {
    uint32_t dims;       /* number of dimensions in use; the dimensions 0 to dims - 1 */
    struct vector total; /* the usable amounts of the pool, which the division divides */
    struct vector
        unit; /* what the division rounds to: 1,000 for slots and named resources, else 1 */
};

struct account_view {
    const struct account_view *parent; /* NULL: a top account */
    uint32_t index;                    /* place in the pool's array of views */
    uint32_t depth;                    /* 0: a top account */
    bool bound;                        /* the account, or an account above, has a limit */
    uint32_t rank;                     /* a higher rank is served first and gives last */
    uint32_t changes;                  /* how often the amounts of the account have changed */
    uint64_t order;                    /* lower for older accounts; no two accounts are equal */
    int64_t preempt_min_runtime_ms;    /* -1: the value of the parent holds */
    int64_t reclaim_min_runtime_ms;    /* -1: the value of the parent holds */
    struct vector guaranteed;
    struct vector promised; /* sum of the guarantees of the children: account_promise() */
    struct vector limit;
    struct vector share;
    struct vector allocatable; /* the larger of guarantee and share, at most the limit */
    struct vector allocated;
    struct vector fixed; /* the part of `allocated` that non-preemptible tasks hold */
};

/* Sets `allocatable` from guarantee, limit and share, in one dimension or in all. */
void account_allocatable_at(struct account_view *account, uint32_t dim);
void account_allocatable(struct account_view *account);

/* Sets `account->bound`. Call for the account's parent first. */
void account_bound(struct account_view *account);

/* Adds the guarantee of `child` to the sum of guarantees that `parent` has promised to its children. */
void account_promise(struct account_view *parent, const struct account_view *child);

/* Did the account promise its children more than its own guarantee in some dimension? False for a project. */
bool account_overcommitted(const struct account_pool *pool, const struct account_view *account);

/* May the account `below` refuse to lose `piece` while it holds `remaining`? `top` is an ancestor of `below`. A guarantee counts if no
 * account from the parent of `below` up to `top` promised its children more than its own guarantee. `below` may refuse if it is
 * above none of its guarantees that count and would lose something in a dimension of such a guarantee. */
bool account_keeps(const struct account_pool *pool, const struct account_view *below,
                   const struct account_view *top, const struct vector *remaining,
                   const struct vector *piece);

/* Would the account be within its guarantee in every dimension if it held `more` in addition? `more` may be NULL. */
bool account_within_guarantee(const struct account_pool *pool, const struct account_view *account,
                              const struct vector *more);

/* The dimensions, bit by bit, in which `held` is above what the account has a right to, and above its guarantee. */
uint32_t account_above_right(const struct account_pool *pool, const struct account_view *account,
                             const struct vector *held);

/* The two siblings below the lowest common ancestor: `*ret_a` on the path of `a`, `*ret_b` on the path of `b`. If `a` and `b` are the
 * same account, or one is an ancestor of the other, both results are the same account: the higher one of the two. */
void account_diverge(const struct account_view *a, const struct account_view *b,
                     const struct account_view **ret_a, const struct account_view **ret_b);
