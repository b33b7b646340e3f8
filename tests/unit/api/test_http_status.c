/* test_http_status.c - every failure and refusal has its status.
 * SPDX-License-Identifier: Apache-2.0 */
#include "api/http_status.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void every_code_has_a_status(void **state)
{
    (void)state;
    for (unsigned code = ERR_OK + 1; code < ERR_COUNT; code++) {
        unsigned status = http_status_of((enum err)code);
        assert_in_range(status, 400, 599);
    }
    assert_int_equal(http_status_of(ERR_INVALID), 400);
    assert_int_equal(http_status_of(ERR_NEVER), 422);
    assert_int_equal(http_status_of(ERR_BUSY), 503);
}

static void every_refusal_has_a_status(void **state)
{
    (void)state;
    for (unsigned code = REASON_UNKNOWN_POOL; code < REASON_COUNT; code++) {
        struct reason reason = {.code = (enum reason_code)code};
        assert_in_range(http_status_of_refusal(VERDICT_REFUSED, &reason), 400, 499);
        assert_in_range(http_status_of_refusal(VERDICT_CONFLICT, &reason), 409, 422);
    }
    struct reason large = {.code = REASON_TOO_LARGE};
    assert_int_equal(http_status_of_refusal(VERDICT_REFUSED, &large), 422);
    struct reason reused = {.code = REASON_KEY_REUSED};
    assert_int_equal(http_status_of_refusal(VERDICT_CONFLICT, &reused), 422);
    struct reason missing = {.code = REASON_UNKNOWN_OBJECT};
    assert_int_equal(http_status_of_refusal(VERDICT_NOT_FOUND, &missing), 404);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_code_has_a_status),
        cmocka_unit_test(every_refusal_has_a_status),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
