/* sequence.h - the orders in which groups of a gang that are not alike are placed, until one works out.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/model/resource.h"

#include <stdbool.h>

/* Those that may be on some nodes only are hardest, then those that ask for most. */
enum sequence { HARDEST_FIRST, AS_LISTED, EASIEST_FIRST, LISTED_LAST_FIRST };
enum { SEQUENCE_COUNT = LISTED_LAST_FIRST + 1 };

/* Does the later of two listed groups go before the other one? */
bool sequence_before(enum sequence sequence, const struct request *later,
                     const struct request *other);

/* Does `a` ask for more than `b`? */
bool sequence_larger(const struct request *a, const struct request *b);
