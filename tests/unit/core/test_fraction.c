/* test_fraction.c - fractions are compared exactly, also those whose products need 192 bits.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core/sched/order/fraction.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

static struct fraction of(fraction_wide over, uint64_t under)
{
    return (struct fraction){over, under};
}

/* The sign of the comparison, asked both ways. */
static int compared(struct fraction a, struct fraction b)
{
    const int by = fraction_compare(a, b);
    assert_int_equal(fraction_compare(b, a), -by);
    return by;
}

static void small_ones(void **state)
{
    (void)state;
    assert_int_equal(compared(of(1, 2), of(2, 4)), 0);
    assert_int_equal(compared(of(1, 3), of(1, 2)), -1);
    assert_int_equal(compared(of(0, 7), of(0, 1)), 0);
    assert_int_equal(compared(of(UINT64_MAX, UINT64_MAX), of(1, 1)), 0);
    assert_int_equal(compared(of(UINT64_MAX, UINT64_MAX - 1), of(UINT64_MAX - 1, UINT64_MAX)), 1);
}

static void large_ones(void **state)
{
    (void)state;
    const fraction_wide large = (fraction_wide)1 << 100;
    assert_int_equal(compared(of(large, 1), of(large, 1)), 0);
    assert_int_equal(compared(of(large, UINT64_MAX), of(large, UINT64_MAX - 1)), -1);
    assert_int_equal(compared(of(large + 1, 7), of(large, 7)), 1);
    assert_int_equal(compared(of(large, 2), of(large >> 1, 1)), 0);
    assert_int_equal(compared(of(large, 2), of((large >> 1) + 1, 1)), -1);
    assert_int_equal(compared(of(large * 3, 3), of(large * 5, 5)), 0);
    assert_int_equal(compared(of(large * 3 + 1, 3), of(large * 5 + 1, 5)), 1);
    assert_int_equal(compared(of(large + UINT64_MAX, UINT64_MAX), of(large, UINT64_MAX)), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_ones),
        cmocka_unit_test(large_ones),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
