/* sort.c - heapsort: n log n steps, whatever the first order is.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/sort.h"

#include "base/must.h"

#include <string.h>

static char *item(void *items, size_t size, size_t index)
{
    return (char *)items + index * size;
}

static void swap(char *a, char *b, size_t size)
{
    char held[SORT_ITEM_MAX];
    memcpy(held, a, size);
    memcpy(a, b, size);
    memcpy(b, held, size);
}

/* Moves item `at` down until no child is larger. The heap is the first `count` items. */
static void sink(void *items, size_t count, size_t size, size_t at, sort_compare_fn compare)
{
    for (;;) {
        size_t largest = at;
        for (size_t child = 2 * at + 1; child <= 2 * at + 2 && child < count; child++) {
            if (compare(item(items, size, child), item(items, size, largest)) > 0) {
                largest = child;
            }
        }
        if (largest == at) {
            return;
        }
        swap(item(items, size, at), item(items, size, largest), size);
        at = largest;
    }
}

void sort_items(void *items, size_t count, size_t size, sort_compare_fn compare)
{
    must(size > 0);
    must(size <= SORT_ITEM_MAX);
    for (size_t i = count / 2; i > 0; i--) {
        sink(items, count, size, i - 1, compare);
    }
    for (size_t left = count; left > 1; left--) {
        swap(item(items, size, 0), item(items, size, left - 1), size);
        sink(items, left - 1, size, 0, compare);
    }
}
