/* account_order.h - which of two sibling accounts is served first, and which gives first.
 *
 * The first difference decides:
 *   1 an account above its share in every dimension comes later
 *   2 one that stays within its guarantee with its next chunk comes first
 *   3 higher rank
 *   4 one that would hold something of which nothing is allocatable to it comes later
 *   5 smaller dominant share (largest held / allocatable) with the chunk, less what is being taken from it
 *   6 smaller dominant share as it is
 *   7 smaller allocatable in every dimension
 *   8 older
 *
 * Only (5) looks at what is being taken: (1) to (4) would otherwise turn an account that gave into one that needs.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/model/vector.h"
#include "core/sched/order/account.h"
#include "core/sched/order/fraction.h"

#include <stdbool.h>

/* One side of the comparison. */
struct account_side {
    const struct account_view *account;
    const struct vector *chunk; /* what its best waiting task would take next, or NULL */
    const struct vector
        *taken; /* what victims, the next candidate among them, would free, or NULL */
};

/* What the order looks at: for those who compare an account often while it holds the same. */
struct account_order_key {
    bool above_share;      /* (1) */
    bool within_guarantee; /* (2) */
    bool without_right;    /* (4) */
    bool with_known;       /* `with` is (5), else it follows from `held` when somebody asks */
    struct fraction with;
    struct vector held;
};

void account_order_key(const struct account_pool *pool, const struct account_side *side,
                       struct account_order_key *ret);
int account_order_keys(const struct account_pool *pool, const struct account_view *a,
                       struct account_order_key *key_a, const struct account_view *b,
                       struct account_order_key *key_b);

/* Below 0: `a` is served first; above 0: `b`. Never 0 for two accounts. */
int account_order(const struct account_pool *pool, const struct account_side *a,
                  const struct account_side *b);

/* Below 0: `a` gives first; above 0: `b`. Who is served last gives first. */
int account_order_giving(const struct account_pool *pool, const struct account_side *a,
                         const struct account_side *b);
