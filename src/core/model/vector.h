/* vector.h - vectors: one amount for each dimension. Quotas, shares and usage are vectors.
 *
 * Dimension 0 is slots, 1 is cpu, 2 is memory. The named resources that some quota mentions follow. In a
 * guarantee, a limit or a share VECTOR_UNLIMITED is larger than any number. A held or requested amount is
 * never VECTOR_UNLIMITED.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/model/resource.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    QUOTA_DIMS_MAX = 8,
    DIM_SLOTS = RESOURCE_SLOTS,
    DIM_CPU = RESOURCE_CPU,
    DIM_MEMORY = RESOURCE_MEMORY,
    DIM_NAMED_FIRST = RESOURCE_NAMED_FIRST,
};
enum { VECTOR_UNLIMITED = -1 };

struct vector {
    int64_t at[QUOTA_DIMS_MAX];
};

/* A larger sum is shown as this number. Adding two shown sums cannot wrap. */
#define QUOTA_SUM_MAX ((int64_t)1 << 60)

/* A 128-bit sum, which cannot wrap however many instances there are. */
struct sum {
    uint64_t low;
    int64_t high;
};

/* Adds `factor` times `amount`. The result must be 0 or more. */
void vector_sum_add(struct sum *sum, int64_t amount, int64_t factor);

/* Is amount `a` at most `bound`? `bound` may be VECTOR_UNLIMITED. */
static inline bool vector_within_at(int64_t a, int64_t bound)
{
    return bound == VECTOR_UNLIMITED || a <= bound;
}

/* A bit for each of the first `dims` dimensions in which `a` is above `bound`. 0: `a` is within `bound`
 * everywhere. */
uint32_t vector_above(const struct vector *a, const struct vector *bound, uint32_t dims);

/* Adds `b` to `a`, or subtracts `b` from `a`, in every dimension. An overflow aborts. */
void vector_add(struct vector *a, const struct vector *b);
void vector_sub(struct vector *a, const struct vector *b);

/* A sum as one number, at most QUOTA_SUM_MAX. Inline, because a pass reads sums of every account at each
 * turn. */
static inline int64_t vector_sum_shown(const struct sum *sum)
{
    return sum->high == 0 && sum->low < (uint64_t)QUOTA_SUM_MAX ? (int64_t)sum->low : QUOTA_SUM_MAX;
}
