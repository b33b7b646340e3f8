/* account_order.h - which of two sibling accounts is served first, and which of them gives first.
 *
 * The first rule in which the two accounts differ decides:
 *   1 an account above its share in every dimension comes later
 *   2 an account that stays within its guarantee with its next chunk comes first
 *   3 the account of higher rank comes first
 *   4 an account that would hold a resource of which nothing is allocatable to the account comes later
 *   5 the smaller dominant share (largest held / allocatable) comes first; the next chunk counts as held, victims as not held
 *   6 the smaller dominant share of what the account holds now comes first
 *   7 the account whose allocatable is smaller in every dimension comes first
 *   8 the older account comes first
 *
 * Only rule 5 subtracts the victims. If the rules 1 to 4 subtracted victims, an account that gave would count as an account in need.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/model/vector.h"
#include "core/sched/order/account.h"
#include "core/sched/order/fraction.h"

#include <stdbool.h>

/* One side of the comparison. */
struct account_side {
    const struct account_view *account;
    const struct vector *chunk; /* the chunk that the account's first task would take, or NULL */
    const struct vector *taken; /* what the account's victims so far would free, or NULL */
};

/* The inputs of the rules for one account. A caller keeps the key while the account holds the same amounts. */
struct account_order_key {
    bool above_share;      /* rule 1 */
    bool within_guarantee; /* rule 2 */
    bool without_right;    /* rule 4 */
    bool with_known;       /* `with` is filled in; the first comparison by rule 5 does that */
    bool now_known;        /* `now` is filled in; the first comparison by rule 6 does that */
    struct fraction with;  /* the dominant share of rule 5 */
    struct fraction now;   /* the dominant share of rule 6 */
    struct vector held;    /* the amounts of rule 5 */
};

/* Computes the key of one side, and compares two siblings by their keys with the result of account_order(). */
void account_order_key(const struct account_pool *pool, const struct account_side *side,
                       struct account_order_key *ret);
int account_order_keys(const struct account_pool *pool, const struct account_view *a,
                       struct account_order_key *key_a, const struct account_view *b,
                       struct account_order_key *key_b);

/* The key of an account and its next chunk, kept while neither changes. */
struct account_order_kept {
    bool known;
    bool full;        /* the account holds its share, or more, of a resource in the chunk */
    uint32_t changes; /* of the view, when the key was computed */
    uint32_t stamp;   /* changes with every computation */
    uint64_t quick;
    bool lowest_known; /* `lowest` holds while the view has `lowest_at` changes */
    uint32_t lowest_at;
    uint32_t
        lowest; /* the lowest priority of a running instance of the project; UINT32_MAX: none */
    struct vector chunk;
    struct account_order_key key;
};

/* The rules 1 to 5 as one number below 2^63, rounded down: an account with a smaller number is served first. With equal numbers
 * account_order_keys() decides. */
uint64_t account_order_quick(const struct account_pool *pool, const struct account_view *account,
                             struct account_order_key *key);

/* Below 0: `a` is served first. Above 0: `b` is served first. The result is never 0 for two different accounts. */
int account_order(const struct account_pool *pool, const struct account_side *a,
                  const struct account_side *b);

/* Below 0: `a` gives first. Above 0: `b` gives first. The account that is served last gives first. */
int account_order_giving(const struct account_pool *pool, const struct account_side *a,
                         const struct account_side *b);
