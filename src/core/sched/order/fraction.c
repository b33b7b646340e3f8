/* fraction.c - the comparison of fractions.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core/sched/order/fraction.h"

#include "base/must.h"

/* A product of 128 by 64 bits: high * 2^64 + low. */
struct product {
    fraction_wide high;
    uint64_t low;
};

static struct product multiply(fraction_wide a, uint64_t b)
{
    const fraction_wide low = (fraction_wide)(uint64_t)a * b;
    return (struct product){(a >> 64) * b + (low >> 64), (uint64_t)low};
}

int fraction_compare(struct fraction a, struct fraction b)
{
    must(a.under > 0);
    must(b.under > 0);
    if ((a.over | b.over) >> 64 == 0) { /* nearly all: the products fit */
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
