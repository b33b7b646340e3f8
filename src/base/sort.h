/* sort.h - sort an array in place. Not stable: a comparison that two different items could tie on would let their first order
 * show, so end it in a tie-break. The same on every machine, and no memory is asked for.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>

typedef int (*sort_compare_fn)(const void *a, const void *b);

/* Items of at most SORT_ITEM_MAX bytes. */
enum { SORT_ITEM_MAX = 256 };
void sort_items(void *items, size_t count, size_t size, sort_compare_fn compare);
