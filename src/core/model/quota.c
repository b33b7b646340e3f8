/* quota.c - amounts of one quota against what is used.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core/model/quota.h"

#include "core/model/resource.h"

int64_t quota_demand(const struct usage *usage, uint32_t dim)
{
    return usage->allocated.at[dim] + usage->wanted.at[dim];
}

int64_t quota_borrowed(const struct quota *quota, const struct usage *usage, uint32_t dim)
{
    int64_t guaranteed = quota->guaranteed.at[dim];
    int64_t allocated = usage->allocated.at[dim];
    return guaranteed == QUOTA_UNLIMITED || allocated < guaranteed ? 0 : allocated - guaranteed;
}

int64_t quota_overhang(const struct quota *quota, const struct usage *usage, uint32_t dim)
{
    int64_t limit = quota->limit.at[dim];
    int64_t guaranteed = quota->guaranteed.at[dim];
    int64_t above = limit == QUOTA_UNLIMITED ? 0 : usage->allocated.at[dim] - limit;
    int64_t fixed = guaranteed == QUOTA_UNLIMITED ? 0 : usage->fixed.at[dim] - guaranteed;
    above = above > fixed ? above : fixed;
    return above > 0 ? above : 0;
}

bool quota_row_default(const struct quota_row *row)
{
    return row->term_count == 0 && row->rank == QUOTA_RANK_DEFAULT &&
           row->preempt_min_runtime_ms == QUOTA_INHERIT &&
           row->reclaim_min_runtime_ms == QUOTA_INHERIT;
}

bool quota_term_default(const struct quota_term *term)
{
    bool unset = term->guaranteed == QUOTA_UNSET ||
                 (term->guaranteed == QUOTA_UNLIMITED && term->resource.v != RESOURCE_SLOTS);
    return unset && term->limit == QUOTA_UNLIMITED && term->weight == QUOTA_WEIGHT_DEFAULT;
}
