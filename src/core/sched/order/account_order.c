/* account_order.c - the order between siblings. The numbers of the rules are those of account_order.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core/sched/order/account_order.h"

#include "base/must.h"
#include "core/model/quota.h"

#include <stddef.h>

/* An amount of a resource of which nothing is allocatable to the account counts a thousand times in the dominant share. */
enum { NO_RIGHT_FACTOR = 1000 };

/* Rule 1: is the account above its share in every dimension? */
static bool above_share(const struct account_pool *pool, const struct account_view *account)
{
    must(pool->dims > 0); /* without dimensions every account would be above its share */
    return vector_above(&account->allocated, &account->share, pool->dims) == (1u << pool->dims) - 1;
}

/* Rule 4: would the account hold a resource of which nothing is allocatable to the account? */
static bool without_right(const struct account_pool *pool, const struct account_view *account,
                          const struct vector *held)
{
    for (uint32_t dim = 0; dim < pool->dims; dim++) {
        if (account->allocatable.at[dim] == 0 && held->at[dim] > 0) {
            return true;
        }
    }
    return false;
}

/* The dominant share for the rules 5 and 6: the largest of held / allocatable over all dimensions. */
static struct fraction dominant(const struct account_pool *pool, const struct account_view *account,
                                const struct vector *held)
{
    struct fraction most = {0, 1};
    for (uint32_t dim = 0; dim < pool->dims; dim++) {
        if (held->at[dim] <= 0) {
            continue;
        }
        const int64_t right = account->allocatable.at[dim] == VECTOR_UNLIMITED
                                  ? pool->total.at[dim]
                                  : account->allocatable.at[dim];
        must(right >= 0);
        struct fraction part = {(fraction_wide)held->at[dim], (uint64_t)right};
        if (right == 0) {
            must(pool->unit.at[dim] > 0);
            part.over *= NO_RIGHT_FACTOR;
            part.under = (uint64_t)pool->unit.at[dim];
        }
        if (fraction_compare(part, most) > 0) {
            most = part;
        }
    }
    return most;
}

/* Rule 7: which allocatable is smaller in every dimension? Below 0: that of `a`. Above 0: that of `b`. 0: neither. */
static int by_allocatable(const struct account_pool *pool, const struct account_view *a,
                          const struct account_view *b)
{
    bool a_within = true;
    bool b_within = true;
    for (uint32_t dim = 0; dim < pool->dims; dim++) {
        const int64_t of_a = a->allocatable.at[dim];
        const int64_t of_b = b->allocatable.at[dim];
        a_within &= of_a == of_b || (of_a != VECTOR_UNLIMITED && vector_within_at(of_a, of_b));
        b_within &= of_a == of_b || (of_b != VECTOR_UNLIMITED && vector_within_at(of_b, of_a));
    }
    return (int)b_within - (int)a_within;
}

void account_order_key(const struct account_pool *pool, const struct account_side *side,
                       struct account_order_key *ret)
{
    const struct account_view *account = side->account;
    ret->held = account->allocated;
    if (side->chunk != NULL) {
        vector_add(&ret->held, side->chunk);
    }
    ret->above_share = above_share(pool, account);
    ret->within_guarantee = vector_above(&ret->held, &account->guaranteed, pool->dims) == 0;
    ret->without_right = without_right(pool, account, &ret->held);
    ret->with_known = false;
    ret->now_known = false;
    if (side->taken != NULL) {
        vector_sub(&ret->held, side->taken);
    }
    must(pool->dims <= QUOTA_DIMS_MAX);
}

static const struct fraction *key_with(const struct account_pool *pool,
                                       const struct account_view *account,
                                       struct account_order_key *key)
{
    if (!key->with_known) {
        key->with = dominant(pool, account, &key->held);
        key->with_known = true;
    }
    return &key->with;
}

/* bit 62: rule 1; bit 61: rule 2; 20 bits: rule 3; bit 40: rule 4; 40 bits: rule 5 */
enum { QUICK_ABOVE = 62, QUICK_BEYOND = 61, QUICK_RANK = 41, QUICK_WITHOUT = 40 };

uint64_t account_order_quick(const struct account_pool *pool, const struct account_view *account,
                             struct account_order_key *key)
{
    must(account->rank <= QUOTA_RANK_MAX);
    return (uint64_t)key->above_share << QUICK_ABOVE |
           (uint64_t)!key->within_guarantee << QUICK_BEYOND |
           (uint64_t)(QUOTA_RANK_MAX - account->rank) << QUICK_RANK |
           (uint64_t)key->without_right << QUICK_WITHOUT |
           fraction_floor(*key_with(pool, account, key));
}

static const struct fraction *key_now(const struct account_pool *pool,
                                      const struct account_view *account,
                                      struct account_order_key *key)
{
    if (!key->now_known) {
        key->now = dominant(pool, account, &account->allocated);
        key->now_known = true;
    }
    return &key->now;
}

/* Among many accounts most shares are equal, and then so are their numbers. */
static int dominant_compare(const struct fraction *a, const struct fraction *b)
{
    if (a->under == b->under) {
        return a->over < b->over ? -1 : a->over > b->over;
    }
    return fraction_compare(*a, *b);
}

int account_order_keys(const struct account_pool *pool, const struct account_view *a,
                       struct account_order_key *key_a, const struct account_view *b,
                       struct account_order_key *key_b)
{
    must(a->parent == b->parent);
    if (key_a->above_share != key_b->above_share) {
        return (int)key_a->above_share - (int)key_b->above_share;
    }
    if (key_a->within_guarantee != key_b->within_guarantee) {
        return (int)key_b->within_guarantee - (int)key_a->within_guarantee;
    }
    if (a->rank != b->rank) {
        return a->rank > b->rank ? -1 : 1;
    }
    if (key_a->without_right != key_b->without_right) {
        return (int)key_a->without_right - (int)key_b->without_right;
    }
    int by = dominant_compare(key_with(pool, a, key_a), key_with(pool, b, key_b));
    if (by == 0) {
        by = dominant_compare(key_now(pool, a, key_a), key_now(pool, b, key_b));
    }
    by = by != 0 ? by : by_allocatable(pool, a, b);
    return by != 0 ? by : (a->order < b->order ? -1 : a->order > b->order);
}

int account_order(const struct account_pool *pool, const struct account_side *a,
                  const struct account_side *b)
{
    must(a->account->parent == b->account->parent);
    struct account_order_key key_a;
    struct account_order_key key_b;
    account_order_key(pool, a, &key_a);
    account_order_key(pool, b, &key_b);
    return account_order_keys(pool, a->account, &key_a, b->account, &key_b);
}

int account_order_giving(const struct account_pool *pool, const struct account_side *a,
                         const struct account_side *b)
{
    return -account_order(pool, a, b);
}
