/* test_rng.c - numbers from a seed.
 * SPDX-License-Identifier: Apache-2.0 */
#include "sim/rng.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

static void the_same_seed_gives_the_same_numbers(void **state)
{
    (void)state;
    struct rng a = rng_of(42, "arrivals", 0);
    struct rng b = rng_of(42, "arrivals", 0);
    struct rng other = rng_of(42, "arrivals", 1);
    const uint64_t first = rng_next(&a);
    assert_int_equal(first, rng_next(&b));
    assert_int_not_equal(first, rng_next(&other));
    /* Written down once: another machine must draw the same. */
    struct rng known = {1};
    assert_int_equal(rng_next(&known), 0x910a2dec89025cc1ULL);
}

static void numbers_stay_in_their_range(void **state)
{
    (void)state;
    struct rng rng = rng_of(7, "range", 0);
    bool low = false;
    bool high = false;
    for (int i = 0; i < 10000; i++) {
        const int64_t drawn = rng_between(&rng, 5, 8);
        assert_in_range(drawn, 5, 8);
        low |= drawn == 5;
        high |= drawn == 8;
        assert_true(rng_below(&rng, 3) < 3);
    }
    assert_true(low && high);
    assert_int_equal(rng_below(&rng, 1), 0);
}

static void chances_come_as_often_as_they_say(void **state)
{
    (void)state;
    struct rng rng = rng_of(7, "chance", 0);
    int hits = 0;
    for (int i = 0; i < 100000; i++) {
        hits += rng_chance(&rng, 250000);
        assert_false(rng_chance(&rng, 0));
        assert_true(rng_chance(&rng, 1000000));
    }
    assert_in_range(hits, 24500, 25500);
}

/* Mean m, and e^-1 of the draws above it. */
static void exponential_has_its_mean_and_its_tail(void **state)
{
    (void)state;
    enum { DRAWS = 200000, MEAN = 60000 };
    struct rng rng = rng_of(3, "exponential", 0);
    int64_t sum = 0;
    int above = 0;
    for (int i = 0; i < DRAWS; i++) {
        const int64_t drawn = rng_exponential(&rng, MEAN);
        assert_true(drawn >= 0);
        sum += drawn;
        above += drawn > MEAN;
    }
    assert_in_range(sum / DRAWS, MEAN * 99 / 100, MEAN * 101 / 100);
    assert_in_range(above, DRAWS * 362 / 1000, DRAWS * 374 / 1000);
    assert_int_equal(rng_exponential(&rng, 0), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_same_seed_gives_the_same_numbers),
        cmocka_unit_test(numbers_stay_in_their_range),
        cmocka_unit_test(chances_come_as_often_as_they_say),
        cmocka_unit_test(exponential_has_its_mean_and_its_tail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
