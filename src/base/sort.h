/* sort.h - sorts an array in place. The sort is not stable: where a comparison ties on two
 * different items, their first order would show. So every comparison must end in a tie-break. The
 * result is the same on every machine, and no memory is allocated.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>

typedef int (*sort_compare_fn)(const void *a, const void *b);

/* The largest size of an item. */
enum { SORT_ITEM_MAX = 256 };
void sort_items(void *items, size_t count, size_t size, sort_compare_fn compare);
