/* test_time_text.c - times to and from RFC 3339.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/time_text.h"
#include "base/json_out.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>
#include <cmocka.h>

static void shows(int64_t ms, const char *text)
{
    char out[TIME_TEXT_MAX];
    time_text(ms, out);
    assert_string_equal(out, text);
}

static void times_are_utc_with_milliseconds(void **state)
{
    (void)state;
    shows(0, "1970-01-01T00:00:00.000Z");
    shows(1, "1970-01-01T00:00:00.001Z");
    shows(951782400000, "2000-02-29T00:00:00.000Z");
    shows(1078012799999, "2004-02-28T23:59:59.999Z");
    shows(4107542400000, "2100-03-01T00:00:00.000Z");
    shows(INT64_MAX, "9999-12-31T23:59:59.999Z");
    shows(-5, "1970-01-01T00:00:00.000Z");
}

static void every_day_agrees_with_libc_and_reads_back(void **state)
{
    (void)state;
    for (int64_t day = 0; day < 60000; day++) {
        int64_t ms = day * 86400000 + day * 1001 % 86400000;
        char out[TIME_TEXT_MAX];
        char wanted[64];
        time_t seconds = (time_t)(ms / 1000);
        struct tm parts;
        (void)gmtime_r(&seconds, &parts);
        size_t len = strftime(wanted, sizeof wanted, "%Y-%m-%dT%H:%M:%S", &parts);
        (void)snprintf(wanted + len, sizeof wanted - len, ".%03dZ", (int)(ms % 1000));
        time_text(ms, out);
        assert_string_equal(out, wanted);
        int64_t back = -1;
        assert_true(time_text_parse(str_of(out), &back));
        assert_true(back == ms);
    }
}

static void offsets_and_fractions_are_understood(void **state)
{
    (void)state;
    int64_t ms = 0;
    assert_true(time_text_parse(str_of("2026-11-15T13:00:00+01:00"), &ms));
    shows(ms, "2026-11-15T12:00:00.000Z");
    assert_true(time_text_parse(str_of("2026-11-15 06:30:00.5-05:30"), &ms));
    shows(ms, "2026-11-15T12:00:00.500Z");
    assert_true(time_text_parse(str_of("2026-11-15T12:00:00.123456789Z"), &ms));
    shows(ms, "2026-11-15T12:00:00.123Z");
}

static void anything_else_is_no_time(void **state)
{
    (void)state;
    const char *bad[] = {"",
                         "now",
                         "2026",
                         "2026-11-15",
                         "2026-11-15T12:00:00",
                         "2026-13-01T00:00:00Z",
                         "2026-02-29T00:00:00Z",
                         "2026-00-01T00:00:00Z",
                         "1969-12-31T23:59:59Z",
                         "2026-11-15T24:00:00Z",
                         "2026-11-15T12:60:00Z",
                         "2026-11-15T12:00:00.Z",
                         "2026-11-15T12:00:00Zx",
                         "2026-11-15T12:00:00+1:00",
                         "1970-01-01T00:00:00+01:00",
                         "2026-11-15T12:00:00 Z",
                         "+026-11-15T12:00:00Z"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        int64_t ms = 7;
        assert_false(time_text_parse(str_of(bad[i]), &ms));
        assert_true(ms == 7);
    }
}

static void zero_is_null_in_json(void **state)
{
    (void)state;
    struct buf out;
    struct json_out j;
    buf_init(&out, 1000);
    json_out_init(&j, &out);
    json_out_object(&j);
    json_out_kv_time(&j, "a", 0);
    json_out_kv_time(&j, "b", 1000);
    json_out_end(&j);
    assert_string_equal(buf_text(&out), "{\"a\":null,\"b\":\"1970-01-01T00:00:01.000Z\"}");
    buf_done(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(times_are_utc_with_milliseconds),
        cmocka_unit_test(every_day_agrees_with_libc_and_reads_back),
        cmocka_unit_test(offsets_and_fractions_are_understood),
        cmocka_unit_test(anything_else_is_no_time),
        cmocka_unit_test(zero_is_null_in_json),
    };
    return cmocka_run_group_tests_name("time_text", tests, NULL, NULL);
}
