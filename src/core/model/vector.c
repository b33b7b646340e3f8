/* vector.c - sums and comparisons of amounts.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core/model/vector.h"

#include "base/checked.h"
#include "base/must.h"

uint32_t vector_above(const struct vector *a, const struct vector *bound, uint32_t dims)
{
    must(dims <= QUOTA_DIMS_MAX);
    uint32_t above = 0;
    for (uint32_t dim = 0; dim < dims; dim++) {
        above |= vector_within_at(a->at[dim], bound->at[dim]) ? 0 : 1u << dim;
    }
    return above;
}

void vector_add(struct vector *a, const struct vector *b)
{
    for (uint32_t dim = 0; dim < QUOTA_DIMS_MAX; dim++) {
        a->at[dim] = i64_add(a->at[dim], b->at[dim]);
    }
}

void vector_sub(struct vector *a, const struct vector *b)
{
    for (uint32_t dim = 0; dim < QUOTA_DIMS_MAX; dim++) {
        a->at[dim] = i64_sub(a->at[dim], b->at[dim]);
    }
}

void vector_sum_add(struct sum *sum, int64_t amount, int64_t factor)
{
    __int128 whole = ((__int128)sum->high << 64 | sum->low) + (__int128)amount * factor;
    sum->low = (uint64_t)whole;
    sum->high = (int64_t)(whole >> 64);
    must(sum->high >= 0);
}
