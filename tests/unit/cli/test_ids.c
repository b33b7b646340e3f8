/* test_ids.c - task ids as people write them
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/ids.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void a_name_has_up_to_three_parts(void **state)
{
    (void)state;
    struct error e;
    struct attempt_name name;
    assert_int_equal(ids_name_parse("12", &name, &e), ERR_OK);
    assert_int_equal(name.task, 12);
    assert_int_equal(name.instance, -1);
    assert_int_equal(name.attempt, -1);
    assert_int_equal(ids_name_parse("12.0", &name, &e), ERR_OK);
    assert_int_equal(name.instance, 0);
    assert_int_equal(ids_name_parse("12.3:2", &name, &e), ERR_OK);
    assert_int_equal(name.instance, 3);
    assert_int_equal(name.attempt, 2);
}

static void anything_else_is_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {"",       "0",    "x",     "-1",
                                      "12.",    "12.x", "12.0:", "12.0:0",
                                      "12.0:x", "12:1", "1e3",   "99999999999999999999",
                                      " 12"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct error e;
        struct attempt_name name;
        if (ids_name_parse(bad[i], &name, &e) != ERR_USAGE) {
            fail_msg("'%s' was taken for an id", bad[i]);
        }
    }
}

static void every_argument_is_an_id(void **state)
{
    (void)state;
    struct error e;
    struct ids ids;
    const char *good[] = {"1", "22"};
    struct cli cli = {.args = {.words = good, .word_count = 2}};
    assert_int_equal(ids_read(&cli, &ids, &e), ERR_OK);
    assert_int_equal(ids.at.count, 2);
    assert_int_equal(ids.at.at[1], 22);
    ids_done(&ids);
    good[1] = "two";
    assert_int_equal(ids_read(&cli, &ids, &e), ERR_USAGE);
    assert_non_null(strstr(e.text, "'two'"));
    ids_done(&ids);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_name_has_up_to_three_parts),
        cmocka_unit_test(anything_else_is_refused),
        cmocka_unit_test(every_argument_is_an_id),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
