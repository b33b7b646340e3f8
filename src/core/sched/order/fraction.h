/* fraction.h - shares compared exactly: a / b against c / d by cross products of 192 bits, without a division.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

typedef unsigned __int128 fraction_wide;

struct fraction {
    fraction_wide over;
    uint64_t under; /* above 0 */
};

/* Below 0: a is smaller; 0: equal; above 0: a is larger. */
int fraction_compare(struct fraction a, struct fraction b);
