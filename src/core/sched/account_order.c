/* account_order.c - the order between siblings.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core/sched/account_order.h"

#include "base/must.h"
#include "core/sched/fraction.h"

#include <stddef.h>

/* What one holds of a resource it has no right to weighs a thousand times its amount. */
enum { NO_RIGHT_FACTOR = 1000 };

static struct vector with(const struct account_view *account, const struct vector *chunk,
                          const struct vector *taken)
{
    struct vector held = account->allocated;
    if (chunk != NULL) {
        vector_add(&held, chunk);
    }
    if (taken != NULL) {
        vector_sub(&held, taken);
    }
    return held;
}

/* (1) */
static bool above_share(const struct account_pool *pool, const struct account_view *account)
{
    return vector_above(&account->allocated, &account->share, pool->dims) == (1u << pool->dims) - 1;
}

/* (4) */
static bool without_right(const struct account_pool *pool, const struct account_side *side)
{
    const struct vector held = with(side->account, side->chunk, NULL);
    for (uint32_t dim = 0; dim < pool->dims; dim++) {
        if (side->account->allocatable.at[dim] == 0 && held.at[dim] > 0) {
            return true;
        }
    }
    return false;
}

/* (5) and (6) */
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
        struct fraction part = {(fraction_wide)held->at[dim], (uint64_t)right};
        if (right == 0) {
            part.over *= NO_RIGHT_FACTOR;
            part.under = (uint64_t)pool->unit.at[dim];
        }
        if (fraction_compare(part, most) > 0) {
            most = part;
        }
    }
    return most;
}

static int by_dominant(const struct account_pool *pool, const struct account_side *a,
                       const struct account_side *b)
{
    const struct vector held_a = with(a->account, a->chunk, a->taken);
    const struct vector held_b = with(b->account, b->chunk, b->taken);
    return fraction_compare(dominant(pool, a->account, &held_a),
                            dominant(pool, b->account, &held_b));
}

/* (7) */
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

int account_order(const struct account_pool *pool, const struct account_side *a,
                  const struct account_side *b)
{
    must(a->account->parent == b->account->parent);
    const struct account_view *left = a->account;
    const struct account_view *right = b->account;
    int by = (int)above_share(pool, left) - (int)above_share(pool, right);
    if (by != 0) {
        return by;
    }
    by = (int)account_within_guarantee(pool, right, b->chunk) -
         (int)account_within_guarantee(pool, left, a->chunk);
    if (by != 0) {
        return by;
    }
    if (left->rank != right->rank) {
        return left->rank > right->rank ? -1 : 1;
    }
    by = (int)without_right(pool, a) - (int)without_right(pool, b);
    if (by != 0) {
        return by;
    }
    by = by_dominant(pool, a, b);
    if (by != 0) {
        return by;
    }
    by = fraction_compare(dominant(pool, left, &left->allocated),
                          dominant(pool, right, &right->allocated));
    if (by != 0) {
        return by;
    }
    by = by_allocatable(pool, left, right);
    if (by != 0) {
        return by;
    }
    return left->order < right->order ? -1 : left->order > right->order;
}

int account_order_giving(const struct account_pool *pool, const struct account_side *a,
                         const struct account_side *b)
{
    return -account_order(pool, a, b);
}
