/* test_sort.c - sorting in place. SPDX-License-Identifier: Apache-2.0 */
#include "base/hash.h"
#include "base/sort.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

enum { ITEMS_MAX = 300 };

static int by_value(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a;
    const uint64_t y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

static void every_length_comes_out_in_order_and_whole(void **state)
{
    (void)state;
    uint64_t items[ITEMS_MAX];
    for (size_t count = 0; count <= ITEMS_MAX; count++) {
        uint64_t sum = 0;
        for (size_t i = 0; i < count; i++) {
            items[i] = hash_u64(count * ITEMS_MAX + i) % 100;
            sum += items[i];
        }
        sort_items(items, count, sizeof items[0], by_value);
        for (size_t i = 0; i < count; i++) {
            sum -= items[i];
            assert_true(i == 0 || items[i - 1] <= items[i]);
        }
        assert_int_equal(sum, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_length_comes_out_in_order_and_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
