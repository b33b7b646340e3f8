/* account.c - what the rules of sharing have in common.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core/sched/account.h"

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

void account_allocatable(struct account_view *account)
{
    for (uint32_t dim = 0; dim < QUOTA_DIMS_MAX; dim++) {
        const int64_t right = higher(account->guaranteed.at[dim], account->share.at[dim]);
        account->allocatable.at[dim] = lower(right, account->limit.at[dim]);
    }
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
