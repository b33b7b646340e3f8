/* fraction.c - the comparison of fractions.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core/sched/order/fraction.h"

#include "base/must.h"

#include <stdbool.h>

/* The product of a 128-bit and a 64-bit number: high * 2^64 + low. */
struct product {
    fraction_wide high;
    uint64_t low;
};

static struct product multiply(fraction_wide a, uint64_t b)
{
    const fraction_wide low = (fraction_wide)(uint64_t)a * b;
    return (struct product){(a >> 64) * b + (low >> 64), (uint64_t)low};
}

enum { FLOOR_BITS = 20 };

/* Divides digit by digit: a number of 128 bits is never divided at once. */
uint64_t fraction_floor(struct fraction a)
{
    must(a.under > 0);
    if (a.over >> 64 != 0) {
        return FRACTION_FLOOR_MAX;
    }
    const uint64_t whole = (uint64_t)a.over / a.under;
    uint64_t rest = (uint64_t)a.over % a.under;
    if (whole >= (FRACTION_FLOOR_MAX + 1) >> FLOOR_BITS) {
        return FRACTION_FLOOR_MAX;
    }
    if (rest >> (64 - FLOOR_BITS) == 0) { /* the usual case: one division gives all digits */
        return whole << FLOOR_BITS | (rest << FLOOR_BITS) / a.under;
    }
    uint64_t result = whole;
    for (uint32_t digit = 0; digit < FLOOR_BITS; digit++) {
        const bool carry = rest >= a.under - rest; /* 2 rest >= under */
        rest = carry ? rest - (a.under - rest) : rest * 2;
        result = result << 1 | carry;
    }
    return result;
}

int fraction_compare(struct fraction a, struct fraction b)
{
    must(a.under > 0);
    must(b.under > 0);
    if ((a.over | b.over) >> 64 == 0) { /* the usual case: both products fit 128 bits */
        const fraction_wide short_left = a.over * b.under;
        const fraction_wide short_right = b.over * a.under;
        return short_left < short_right ? -1 : short_left > short_right;
    }
    const struct product left = multiply(a.over, b.under);
    const struct product right = multiply(b.over, a.under);
    if (left.high != right.high) {
        return left.high < right.high ? -1 : 1;
    }
    return left.low < right.low ? -1 : left.low > right.low;
}
