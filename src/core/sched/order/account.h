/* account.h - an account as the rules of sharing see it: what it is promised, what it may have, what it holds, in one pool.
 *
 * The rules (account_order, gates, reclaim_rules, runtime) read these and nothing else, so server, simulator and tests call
 * the same code. Whoever decides fills them from the state and keeps `allocated` and `fixed` current within a trial.
 *
 *      share      what the division gives it now (fairshare.h)
 *      allocatable   how far it may go without being above anybody's right: the larger of guarantee and share, within the limit
 *
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/model/vector.h"

#include <stdbool.h>
#include <stdint.h>

/* Of one pool, the same for all its accounts. */
struct account_pool {
    uint32_t dims;       /* dimensions in use, from 0 */
    struct vector total; /* what there is to divide */
    struct vector
        unit; /* of each dimension: 1,000 where amounts are thousandths of a thing, else 1 */
};

struct account_view {
    const struct account_view *parent; /* NULL: a top account */
    uint32_t index;                    /* place in the pool's array of views */
    uint32_t depth;                    /* 0: a top account */
    uint32_t rank;                     /* higher is served first and gives last */
    uint32_t changes;                  /* of what it holds, within a trial */
    uint64_t order;                    /* older ones have lower ones; no two are equal */
    int64_t preempt_min_runtime_ms;    /* -1: as its parent */
    int64_t reclaim_min_runtime_ms;    /* -1: likewise */
    struct vector guaranteed;
    struct vector promised; /* to those directly below it, together: account_promise() */
    struct vector limit;
    struct vector share;
    struct vector allocatable; /* account_allocatable() */
    struct vector allocated;
    struct vector fixed; /* the part of `allocated` that non-preemptible tasks hold */
};

/* Sets `allocatable` from guarantee, limit and share. */
void account_allocatable(struct account_view *account);

/* Adds the guarantee of `child` to what `parent` has promised below it. */
void account_promise(struct account_view *parent, const struct account_view *child);

/* Is `below` (in the tree, `top` itself excluded) within a guarantee that those from its parent up to `top` can keep in full, in
 * a dimension in which it would lose `piece`, and above none of that kind, while it holds `remaining`? Where accounts were
 * promised more than the one above them has, none of them can insist. */
bool account_keeps(const struct account_pool *pool, const struct account_view *below,
                   const struct account_view *top, const struct vector *remaining,
                   const struct vector *piece);

/* Would it be within its guarantee, in every dimension, with `more` (may be NULL) on top of what it holds? */
bool account_within_guarantee(const struct account_pool *pool, const struct account_view *account,
                              const struct vector *more);

/* The two accounts below the lowest common ancestor, one on each path: siblings. Of the same account, or of one and its
 * ancestor, the lower paths end together: both results are then on one path. */
void account_diverge(const struct account_view *a, const struct account_view *b,
                     const struct account_view **ret_a, const struct account_view **ret_b);
