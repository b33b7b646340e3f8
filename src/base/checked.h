/* checked.h - sums that cannot wrap. A sum that would wrap is a bug, so it aborts.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/must.h"

#include <stdint.h>

static inline int64_t i64_add(int64_t a, int64_t b)
{
    int64_t sum;
    must(!__builtin_add_overflow(a, b, &sum));
    return sum;
}

static inline int64_t i64_sub(int64_t a, int64_t b)
{
    int64_t difference;
    must(!__builtin_sub_overflow(a, b, &difference));
    return difference;
}

static inline int64_t i64_mul(int64_t a, int64_t b)
{
    int64_t product;
    must(!__builtin_mul_overflow(a, b, &product));
    return product;
}

/* a * b / c, rounded down, with 128 bits in between. a, b >= 0, c > 0; the result must fit. */
static inline int64_t i64_mul_div(int64_t a, int64_t b, int64_t c)
{
    must(a >= 0);
    must(b >= 0);
    must(c > 0);
    __int128 quotient = (__int128)a * b / c;
    must(quotient <= INT64_MAX);
    return (int64_t)quotient;
}
