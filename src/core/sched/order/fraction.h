/* fraction.h - the exact comparison of two shares. The comparison multiplies crosswise with 192 bits and never divides, so no
 * rounding decides between two accounts.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

typedef unsigned __int128 fraction_wide;

struct fraction {
    fraction_wide over;
    uint64_t under; /* above 0 */
};

/* The result is below 0 if `a` is smaller, 0 if both are equal, above 0 if `a` is larger. */
int fraction_compare(struct fraction a, struct fraction b);

/* The fraction times 2^20, rounded down; at most FRACTION_FLOOR_MAX. A larger fraction never has a smaller floor. */
#define FRACTION_FLOOR_MAX (((uint64_t)1 << 40) - 1)
uint64_t fraction_floor(struct fraction a);
