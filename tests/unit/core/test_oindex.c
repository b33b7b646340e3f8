/* test_oindex.c - the ordered set against a sorted array.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core/model/oindex.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

enum { UNIVERSE = 6000, STEPS = 60000 };

static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

/* Key number n of the universe: ascending in n, all four numbers in use. */
static struct okey key_of(uint64_t n)
{
    return (struct okey){{n / 1000, n / 100 % 10, n / 10 % 10, n % 10}};
}

static uint64_t number_of(struct okey key)
{
    return key.at[0] * 1000 + key.at[1] * 100 + key.at[2] * 10 + key.at[3];
}

static void assert_same(const struct oindex *index, const bool *model)
{
    uint64_t count = 0;
    struct okey key;
    bool more = oindex_from(index, key_of(0), &key);
    for (uint64_t n = 0; n < UNIVERSE; n++) {
        if (!model[n]) {
            continue;
        }
        count++;
        assert_true(more);
        assert_int_equal(number_of(key), n);
        more = oindex_next(index, key, &key);
    }
    assert_false(more);
    assert_int_equal(oindex_count(index), count);
}

static void assert_neighbours(const struct oindex *index, const bool *model, uint64_t n)
{
    uint64_t up = n;
    while (up < UNIVERSE && !model[up]) {
        up++;
    }
    struct okey key;
    assert_int_equal(oindex_from(index, key_of(n), &key), up < UNIVERSE);
    if (up < UNIVERSE) {
        assert_int_equal(number_of(key), up);
    }
    uint64_t down = n;
    while (down > 0 && !model[down - 1]) {
        down--;
    }
    assert_int_equal(oindex_prev(index, key_of(n), &key), down > 0);
    if (down > 0) {
        assert_int_equal(number_of(key), down - 1);
    }
}

/* Phases of mostly inserting and mostly removing, so that nodes split, merge and vanish. */
static void random_operations_agree_with_a_plain_set(void **state)
{
    (void)state;
    struct oindex index;
    oindex_init(&index);
    static bool model[UNIVERSE];
    uint64_t seed = 88172645463325252U;
    for (uint64_t step = 0; step < STEPS; step++) {
        uint64_t n = next_random(&seed) % UNIVERSE;
        bool grow = next_random(&seed) % 10 < (step / 10000 % 2 == 0 ? 8U : 1U);
        if (grow) {
            assert_int_equal(oindex_insert(&index, key_of(n)), !model[n]);
        } else {
            assert_int_equal(oindex_remove(&index, key_of(n)), model[n]);
        }
        model[n] = grow;
        assert_int_equal(oindex_has(&index, key_of(n)), grow);
        assert_neighbours(&index, model, next_random(&seed) % UNIVERSE);
        if (step % 2500 == 0) {
            assert_same(&index, model);
        }
    }
    assert_same(&index, model);
    oindex_done(&index);
}

static void a_queue_that_moves_on_stays_small_and_empties(void **state)
{
    (void)state;
    struct oindex index;
    oindex_init(&index);
    for (uint64_t n = 0; n < UNIVERSE; n++) {
        assert_true(oindex_insert(&index, key_of(n)));
        if (n >= 100) {
            assert_true(oindex_remove(&index, key_of(n - 100)));
        }
    }
    assert_int_equal(oindex_count(&index), 100);
    for (uint64_t n = UNIVERSE - 100; n < UNIVERSE; n++) {
        assert_true(oindex_remove(&index, key_of(n)));
    }
    assert_null(index.root);
    struct okey key;
    assert_false(oindex_from(&index, key_of(0), &key));
    oindex_done(&index);
}

static void copies_do_not_see_each_other(void **state)
{
    (void)state;
    static bool model[2][UNIVERSE];
    struct oindex index[2];
    oindex_init(&index[0]);
    for (uint64_t n = 0; n < UNIVERSE; n += 2) {
        assert_true(oindex_insert(&index[0], key_of(n)));
        model[0][n] = model[1][n] = true;
    }
    oindex_copy(&index[1], &index[0]);
    uint64_t seed = 7;
    for (int step = 0; step < 20000; step++) {
        unsigned which = (unsigned)(next_random(&seed) % 2);
        uint64_t n = next_random(&seed) % UNIVERSE;
        model[which][n] = !model[which][n];
        assert_true(model[which][n] ? oindex_insert(&index[which], key_of(n))
                                    : oindex_remove(&index[which], key_of(n)));
    }
    assert_same(&index[0], model[0]);
    assert_same(&index[1], model[1]);
    oindex_done(&index[0]);
    assert_same(&index[1], model[1]);
    oindex_done(&index[1]);
}

static void the_highest_key_has_no_next(void **state)
{
    (void)state;
    struct oindex index;
    oindex_init(&index);
    struct okey top = {{UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX}};
    struct okey found;
    assert_true(oindex_insert(&index, top));
    assert_false(oindex_insert(&index, top));
    assert_false(oindex_next(&index, top, &found));
    assert_true(oindex_from(&index, top, &found));
    assert_int_equal(oindex_key_compare(found, top), 0);
    oindex_done(&index);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_operations_agree_with_a_plain_set),
        cmocka_unit_test(a_queue_that_moves_on_stays_small_and_empties),
        cmocka_unit_test(copies_do_not_see_each_other),
        cmocka_unit_test(the_highest_key_has_no_next),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
