/* test_map.c - the hash map against a simple model, and the hash under it.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/hash.h"
#include "base/map.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

static int values[512];

static void values_are_found_by_their_keys(void **state)
{
    (void)state;
    struct map *map = map_new();
    assert_null(map_get(map, "a", 1));
    assert_null(map_put(map, "a", 1, &values[0]));
    assert_null(map_put(map, "", 0, &values[1]));
    assert_null(map_put(map, "a\0b", 3, &values[2]));
    assert_ptr_equal(map_get(map, "a", 1), &values[0]);
    assert_ptr_equal(map_get(map, "", 0), &values[1]);
    assert_ptr_equal(map_get(map, "a\0b", 3), &values[2]);
    assert_ptr_equal(map_put(map, "a", 1, &values[3]), &values[0]);
    assert_int_equal(map_count(map), 3);
    assert_ptr_equal(map_remove(map, "a", 1), &values[3]);
    assert_null(map_remove(map, "a", 1));
    assert_null(map_get(map, "a", 1));
    assert_int_equal(map_count(map), 2);
    map_free(map);
    map_free(NULL);
}

static void the_walk_is_in_order_of_insertion(void **state)
{
    (void)state;
    struct map *map = map_new();
    for (size_t i = 0; i < 300; i++) {
        (void)map_put(map, &i, sizeof i, &values[i]);
    }
    for (size_t i = 0; i < 300; i += 3) {
        assert_ptr_equal(map_remove(map, &i, sizeof i), &values[i]);
    }
    size_t cursor = 0;
    for (size_t i = 0; i < 300; i++) {
        if (i % 3 != 0) {
            assert_ptr_equal(map_next(map, &cursor), &values[i]);
        }
    }
    assert_null(map_next(map, &cursor));
    map_free(map);
}

static void entries_may_go_while_walking(void **state)
{
    (void)state;
    struct map *map = map_new();
    for (size_t i = 0; i < 100; i++) {
        (void)map_put(map, &i, sizeof i, &values[i]);
    }
    size_t cursor = 0;
    int *value;
    while ((value = map_next(map, &cursor)) != NULL) {
        size_t key = (size_t)(value - values);
        assert_ptr_equal(map_remove(map, &key, sizeof key), value);
    }
    assert_int_equal(map_count(map), 0);
    map_free(map);
}

/* 20,000 steps of a fixed pseudo-random history, compared with a plain array. */
static void a_long_history_agrees_with_an_array(void **state)
{
    (void)state;
    struct map *map = map_new();
    int *model[512] = {0};
    size_t live = 0;
    uint64_t random = 1;
    for (int step = 0; step < 20000; step++) {
        random = random * 6364136223846793005U + 1442695040888963407U;
        size_t key = (size_t)(random >> 33) % 512;
        if ((random >> 60) < 9) {
            assert_ptr_equal(map_put(map, &key, sizeof key, &values[key]), model[key]);
            live += model[key] == NULL;
            model[key] = &values[key];
        } else {
            assert_ptr_equal(map_remove(map, &key, sizeof key), model[key]);
            live -= model[key] != NULL;
            model[key] = NULL;
        }
        assert_int_equal(map_count(map), live);
    }
    for (size_t key = 0; key < 512; key++) {
        assert_ptr_equal(map_get(map, &key, sizeof key), model[key]);
    }
    map_free(map);
}

static void the_hash_is_the_same_everywhere(void **state)
{
    (void)state;
    assert_true(hash_u64(0) == 0);
    assert_true(hash_u64(1) == 0x5692161d100b05e5U);
    assert_true(hash_bytes("weir", 4) == hash_bytes("weir", 4));
    assert_true(hash_bytes("weir", 4) != hash_bytes("wier", 4));
    assert_true(hash_bytes("", 0) == hash_u64(0xcbf29ce484222325U));
    const uint64_t words[3] = {1, 0, 2};
    const uint64_t others[3] = {0, 1, 2};
    assert_true(hash_words(words, 24) == hash_words(words, 24));
    assert_true(hash_words(words, 24) != hash_words(others, 24));
    assert_true(hash_words(words, 8) != hash_words(words, 16));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_are_found_by_their_keys),
        cmocka_unit_test(the_walk_is_in_order_of_insertion),
        cmocka_unit_test(entries_may_go_while_walking),
        cmocka_unit_test(a_long_history_agrees_with_an_array),
        cmocka_unit_test(the_hash_is_the_same_everywhere),
    };
    return cmocka_run_group_tests_name("map", tests, NULL, NULL);
}
