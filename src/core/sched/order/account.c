/* account.c - the functions on accounts that several rules of sharing use.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core/sched/order/account.h"

#include "base/must.h"

#include <stddef.h>

static int64_t lower(int64_t a, int64_t b)
{
    return vector_within_at(a, b) && a != VECTOR_UNLIMITED ? a : b;
}

static int64_t higher(int64_t a, int64_t b)
{
    return lower(a, b) == a ? b : a;
}

void account_allocatable_at(struct account_view *account, uint32_t dim)
{
    const int64_t right = higher(account->guaranteed.at[dim], account->share.at[dim]);
    account->allocatable.at[dim] = lower(right, account->limit.at[dim]);
}

void account_allocatable(struct account_view *account)
{
    for (uint32_t dim = 0; dim < QUOTA_DIMS_MAX; dim++) {
        account_allocatable_at(account, dim);
    }
}

void account_bound(struct account_view *account)
{
    account->bound = account->parent != NULL && account->parent->bound;
    for (uint32_t dim = 0; dim < QUOTA_DIMS_MAX; dim++) {
        account->bound |= account->limit.at[dim] != VECTOR_UNLIMITED;
    }
}

void account_promise(struct account_view *parent, const struct account_view *child)
{
    for (uint32_t dim = 0; dim < QUOTA_DIMS_MAX; dim++) {
        int64_t *sum = &parent->promised.at[dim];
        const int64_t more = child->guaranteed.at[dim];
        const bool unlimited = *sum == VECTOR_UNLIMITED || more == VECTOR_UNLIMITED ||
                               __builtin_add_overflow(*sum, more, sum);
        *sum = unlimited ? VECTOR_UNLIMITED : *sum;
    }
}

/* Did the account promise its children more than its own guarantee in this dimension? */
static bool promised_more(const struct account_view *account, uint32_t dim)
{
    const int64_t bound = account->guaranteed.at[dim];
    const int64_t promised = account->promised.at[dim];
    return promised == VECTOR_UNLIMITED ? bound != VECTOR_UNLIMITED
                                        : !vector_within_at(promised, bound);
}

bool account_overcommitted(const struct account_pool *pool, const struct account_view *account)
{
    for (uint32_t dim = 0; dim < pool->dims; dim++) {
        if (promised_more(account, dim)) {
            return true;
        }
    }
    return false;
}

/* The dimensions, bit by bit, in which no account from `account` up to `top` promised its children more than its own guarantee. */
static uint32_t kept_dims(const struct account_pool *pool, const struct account_view *account,
                          const struct account_view *top)
{
    uint32_t kept = UINT32_MAX;
    for (; kept != 0; account = account->parent) {
        must(account !=
             NULL); /* `top` is an ancestor, so the walk meets `top` before the tree ends */
        for (uint32_t dim = 0; dim < pool->dims; dim++) {
            kept &= promised_more(account, dim) ? ~(1u << dim) : UINT32_MAX;
        }
        if (account == top) {
            break;
        }
    }
    return kept;
}

bool account_keeps(const struct account_pool *pool, const struct account_view *below,
                   const struct account_view *top, const struct vector *remaining,
                   const struct vector *piece)
{
    must(below != top);
    const uint32_t kept = kept_dims(pool, below->parent, top);
    bool loses = false;
    for (uint32_t dim = 0; dim < pool->dims; dim++) {
        const int64_t guaranteed = below->guaranteed.at[dim];
        if ((kept >> dim & 1u) == 0 || guaranteed == VECTOR_UNLIMITED) {
            continue;
        }
        if (remaining->at[dim] > guaranteed) {
            return false;
        }
        loses = loses || piece->at[dim] > 0;
    }
    return loses;
}

bool account_within_guarantee(const struct account_pool *pool, const struct account_view *account,
                              const struct vector *more)
{
    struct vector held = account->allocated;
    if (more != NULL) {
        vector_add(&held, more);
    }
    return vector_above(&held, &account->guaranteed, pool->dims) == 0;
}

uint32_t account_above_right(const struct account_pool *pool, const struct account_view *account,
                             const struct vector *held)
{
    return vector_above(held, &account->allocatable, pool->dims) &
           vector_above(held, &account->guaranteed, pool->dims);
}

void account_diverge(const struct account_view *a, const struct account_view *b,
                     const struct account_view **ret_a, const struct account_view **ret_b)
{
    must(a != NULL);
    must(b != NULL);
    while (a->depth > b->depth) {
        a = a->parent;
    }
    while (b->depth > a->depth) {
        b = b->parent;
    }
    while (a->parent != b->parent) {
        a = a->parent;
        b = b->parent;
    }
    *ret_a = a;
    *ret_b = b;
}
