/* test_attempts_merge.c - earlier attempts go into the JSON of a task, each in its place.
 * SPDX-License-Identifier: Apache-2.0 */
#include "wire/attempts_merge.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

static void merged(const char *task, const struct attempt_past *past, size_t count,
                   const char *expected)
{
    struct buf out;
    buf_init(&out, 4096);
    attempts_merge(&out, str_of(task), past, count);
    assert_string_equal(buf_text(&out), expected);
    buf_done(&out);
}

#define PAST(i, a, text) ((struct attempt_past){i, a, str_of(text)})

static void attempts_stand_by_instance_then_by_number(void **state)
{
    (void)state;
    const struct attempt_past past[] = {PAST(0, 1, "A"), PAST(0, 2, "B"), PAST(2, 1, "C")};
    merged(
        "{\"id\":7,\"attempts\":[{\"key\":\"7.0:3\"},{\"key\":\"7.1:1\",\"x\":{\"y\":1}}]}", past,
        3,
        "{\"id\":7,\"attempts\":[A,B,{\"key\":\"7.0:3\"},{\"key\":\"7.1:1\",\"x\":{\"y\":1}},C]}");
}

static void an_attempt_that_both_have_comes_once(void **state)
{
    (void)state;
    const struct attempt_past past[] = {PAST(0, 1, "A")};
    merged("{\"attempts\":[{\"key\":\"7.0:1\"},{\"key\":\"7.1:1\"}]}", past, 1,
           "{\"attempts\":[A,{\"key\":\"7.1:1\"}]}");
    merged("{\"attempts\":[]}", past, 1, "{\"attempts\":[A]}");
    merged("{\"attempts\":[{\"key\":\"7.0:1\"}]}", NULL, 0, "{\"attempts\":[{\"key\":\"7.0:1\"}]}");
}

static void whether_the_instance_waits_again_is_told_by_the_task(void **state)
{
    (void)state;
    const struct attempt_past past[] = {
        PAST(0, 1, "{\"key\":\"7.0:1\",\"node\":\"n\",\"again\":false}")};
    merged("{\"attempts\":[{\"key\":\"7.0:1\",\"node\":null,\"again\":true}]}", past, 1,
           "{\"attempts\":[{\"key\":\"7.0:1\",\"node\":\"n\",\"again\":true}]}");
}

static void texts_of_users_mislead_nobody(void **state)
{
    (void)state;
    const struct attempt_past past[] = {PAST(0, 1, "A")};
    merged(
        "{\"name\":\"\\\"attempts\\\":[\",\"attempts\":[{\"key\":\"7.0:2\",\"m\":\"}]\\\"{\"}]}",
        past, 1,
        "{\"name\":\"\\\"attempts\\\":[\",\"attempts\":[A,{\"key\":\"7.0:2\",\"m\":\"}]\\\"{\"}]}");
    merged("{\"id\":7}", past, 1, "{\"id\":7}");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(attempts_stand_by_instance_then_by_number),
        cmocka_unit_test(an_attempt_that_both_have_comes_once),
        cmocka_unit_test(whether_the_instance_waits_again_is_told_by_the_task),
        cmocka_unit_test(texts_of_users_mislead_nobody),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
