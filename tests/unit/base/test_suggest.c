/* test_suggest.c - did you mean
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/suggest.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static const char *best_of(const char *typed, const char *const *known)
{
    struct suggest suggest;
    suggest_init(&suggest, str_of(typed));
    for (size_t i = 0; known[i] != NULL; i++) {
        suggest_offer(&suggest, known[i]);
    }
    return suggest.best;
}

static const char *const words[] = {"submit", "status", "task", "run", "completion", "pool", NULL};

static void a_slip_of_the_finger_is_one_step(void **state)
{
    (void)state;
    assert_int_equal(suggest_distance(str_of("submit"), str_of("submit")), 0);
    assert_int_equal(suggest_distance(str_of("sumbit"), str_of("submit")),
                     1); /* two letters swapped */
    assert_int_equal(suggest_distance(str_of("submt"), str_of("submit")), 1);
    assert_int_equal(suggest_distance(str_of("submmit"), str_of("submit")), 1);
    assert_int_equal(suggest_distance(str_of(""), str_of("run")), 3);
    assert_int_equal(suggest_distance(str_of("run"), str_of("")), 3);
}

static void the_nearest_word_is_offered(void **state)
{
    (void)state;
    assert_string_equal(best_of("sumbit", words), "submit");
    assert_string_equal(best_of("statsu", words), "status");
    assert_string_equal(best_of("rn", words), "run");
    assert_string_equal(best_of("comp", words), "completion");
}

static void nothing_near_is_nothing(void **state)
{
    (void)state;
    assert_null(best_of("xyzzy", words));
    assert_null(best_of("a", words));
}

static void a_monstrous_word_is_far_from_everything(void **state)
{
    (void)state;
    char monster[SUGGEST_WORD_MAX + 50];
    memset(monster, 'a', sizeof monster - 1);
    monster[sizeof monster - 1] = '\0';
    assert_int_equal(suggest_distance(str_of(monster), str_of("run")), SIZE_MAX);
    assert_null(best_of(monster, words));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_slip_of_the_finger_is_one_step),
        cmocka_unit_test(the_nearest_word_is_offered),
        cmocka_unit_test(nothing_near_is_nothing),
        cmocka_unit_test(a_monstrous_word_is_far_from_everything),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
