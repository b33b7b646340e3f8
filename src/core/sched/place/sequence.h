/* sequence.h - the orders in which different groups of a gang are tried. The search tries one sequence after the other until all
 * groups find places.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/model/resource.h"

#include <stdbool.h>

/* The hardest group asks for most labels. Among groups with equally many labels the hardest has the largest request. */
enum sequence { HARDEST_FIRST, AS_LISTED, EASIEST_FIRST, LISTED_LAST_FIRST };
enum { SEQUENCE_COUNT = LISTED_LAST_FIRST + 1 };

/* Is a group tried before another group that the form lists earlier? `later` and `other` are the requests of the two groups. */
bool sequence_before(enum sequence sequence, const struct request *later,
                     const struct request *other);

/* Does `a` ask for more than `b`? Slots decide, then cpu, then memory. */
bool sequence_larger(const struct request *a, const struct request *b);
