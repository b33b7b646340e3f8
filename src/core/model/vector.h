/* vector.h - amounts of every accounted resource ("dimension") together: what quotas, shares and usage are counted in.
 *
 * Dimension 0 is slots, 1 cpu, 2 memory; those named resources that some quota mentions follow. In a guarantee, a limit or a
 * share VECTOR_UNLIMITED is larger than any number; in an amount held or asked for it does not occur.
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

/* Sums are shown up to here; beyond, they are this. No sum of two of them wraps. */
#define QUOTA_SUM_MAX ((int64_t)1 << 60)

/* A sum that does not wrap: of as many amounts as there can be instances. */
struct sum {
    uint64_t low;
    int64_t high;
};

/* Add `factor` times `amount`; never below 0. */
void vector_sum_add(struct sum *sum, int64_t amount, int64_t factor);

/* Is amount `a` within `bound`, which may be unlimited? */
static inline bool vector_within_at(int64_t a, int64_t bound)
{
    return bound == VECTOR_UNLIMITED || a <= bound;
}

/* The dimensions (bit by bit, the first `dims` of them) in which `a` is above `bound`; 0: within it everywhere. */
uint32_t vector_above(const struct vector *a, const struct vector *bound, uint32_t dims);

/* Add `b` to `a`, take `b` from `a`: every dimension, checked. */
void vector_add(struct vector *a, const struct vector *b);
void vector_sub(struct vector *a, const struct vector *b);

/* A sum as a number: at most QUOTA_SUM_MAX. Inline, because a pass asks for some of every account's each time. */
static inline int64_t vector_sum_shown(const struct sum *sum)
{
    return sum->high == 0 && sum->low < (uint64_t)QUOTA_SUM_MAX ? (int64_t)sum->low : QUOTA_SUM_MAX;
}
