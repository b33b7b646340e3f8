/* test_amount.c - amounts, sizes, durations and names as people write them.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/amount.h"
#include "base/name.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

typedef enum err (*read_fn)(struct str, int64_t *, struct error *);

static void reads(read_fn fn, const char *text, int64_t value)
{
    int64_t got = -7;
    struct error e = {0};
    assert_int_equal(fn(str_of(text), &got, &e), ERR_OK);
    assert_true(got == value);
}

static void refuses(read_fn fn, const char *text)
{
    int64_t got = -7;
    struct error e = {0};
    assert_int_equal(fn(str_of(text), &got, &e), ERR_INVALID);
    assert_true(got == -7);
    assert_non_null(strstr(e.text, text)); /* what was found is in the message */
}

static void amounts_are_thousandths(void **state)
{
    (void)state;
    reads(amount_milli, "0", 0);
    reads(amount_milli, "7", 7000);
    reads(amount_milli, "0.5", 500);
    reads(amount_milli, "0.05", 50);
    reads(amount_milli, "12.345", 12345);
    reads(amount_milli, "1.0", 1000);
    reads(amount_milli, "1000000000000", AMOUNT_MILLI_MAX);
}

static void amounts_that_are_none_are_refused(void **state)
{
    (void)state;
    const char *bad[] = {"",
                         "-1",
                         "+1",
                         "NaN",
                         "nan",
                         "inf",
                         "1e99",
                         "1e3",
                         "5.",
                         ".5",
                         "0.1234",
                         "1,5",
                         "0x10",
                         " 1",
                         "1 ",
                         "1.2.3",
                         "1000000000000.001",
                         "99999999999999999999999"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        refuses(amount_milli, bad[i]);
    }
}

static void sizes_are_bytes(void **state)
{
    (void)state;
    reads(amount_bytes, "0", 0);
    reads(amount_bytes, "1073741824", 1073741824);
    reads(amount_bytes, "50000000000000000", 50000000000000000);
    reads(amount_bytes, "64Gi", (int64_t)64 << 30);
    reads(amount_bytes, "64GiB", (int64_t)64 << 30);
    reads(amount_bytes, "500M", 500000000);
    reads(amount_bytes, "500MB", 500000000);
    reads(amount_bytes, "1.5Ki", 1536);
    reads(amount_bytes, "2k", 2000);
    reads(amount_bytes, "64Pi", AMOUNT_BYTES_MAX);
    const char *bad[] = {"", "-1", "64gi", "Gi", "1Ei", "1m", "1e9", "65Pi", "1 Gi", "NaN", "B1"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        refuses(amount_bytes, bad[i]);
    }
}

static void durations_are_milliseconds(void **state)
{
    (void)state;
    reads(amount_duration, "90", 90000);
    reads(amount_duration, "0.25", 250);
    reads(amount_duration, "2h", 7200000);
    reads(amount_duration, "1h30m", 5400000);
    reads(amount_duration, "1.5h", 5400000);
    reads(amount_duration, "90s", 90000);
    reads(amount_duration, "250ms", 250);
    reads(amount_duration, "1d2h3m4s5ms", 93784005);
    reads(amount_duration, "2w", 1209600000);
    const char *bad[] = {"", "-1s", "30m1h", "1h1h", "5x", "h", "1h30", "200000d", "1e9", "inf"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        refuses(amount_duration, bad[i]);
    }
}

static void shows(void (*fn)(int64_t, char *), int64_t value, const char *text)
{
    char out[AMOUNT_TEXT_MAX];
    fn(value, out);
    assert_string_equal(out, text);
}

static void amounts_come_back_as_text(void **state)
{
    (void)state;
    shows(amount_milli_text, 0, "0");
    shows(amount_milli_text, 500, "0.5");
    shows(amount_milli_text, 1500, "1.5");
    shows(amount_milli_text, 10000, "10");
    shows(amount_milli_text, -250, "-0.25");
    shows(amount_milli_text, INT64_MIN, "-9223372036854775.808");
    shows(amount_bytes_text, 0, "0");
    shows(amount_bytes_text, 1023, "1023");
    shows(amount_bytes_text, (int64_t)64 << 30, "64Gi");
    shows(amount_bytes_text, ((int64_t)64 << 30) - 1, "63.9Gi");
    shows(amount_bytes_text, 1536, "1.5Ki");
    shows(amount_bytes_text, AMOUNT_BYTES_MAX, "64Pi");
    shows(amount_bytes_text, -2048, "-2Ki");
    shows(amount_duration_text, 0, "0s");
    shows(amount_duration_text, 250, "250ms");
    shows(amount_duration_text, 5400000, "1h30m");
    shows(amount_duration_text, 93784005, "1d2h3m4s5ms");
    shows(amount_duration_text, AMOUNT_MS_MAX, "36600d");
    shows(amount_duration_text, -1000, "-1s");
}

static void texts_of_durations_read_back(void **state)
{
    (void)state;
    for (int64_t ms = 1; ms < AMOUNT_MS_MAX / 3; ms = ms * 3 + 1) {
        char out[AMOUNT_TEXT_MAX];
        amount_duration_text(ms, out);
        reads(amount_duration, out, ms);
    }
}

static void names_are_checked(void **state)
{
    (void)state;
    struct error e;
    const char *good[] = {"a", "gpu0", "A-b_c.d", "0x"};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        assert_int_equal(name_check(str_of(good[i]), "a pool", &e), ERR_OK);
    }
    const char *bad[] = {"-a", ".a", "_a", "a b", "a/b", "a=b", "\xc3\xa9"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_int_equal(name_check(str_of(bad[i]), "a pool", &e), ERR_INVALID);
        assert_non_null(strstr(e.text, bad[i]));
    }
    assert_int_equal(name_check(str_of(""), "a pool", &e), ERR_INVALID);
    assert_string_equal(e.text, "the name of a pool is empty");
    char name[65];
    memset(name, 'x', 64);
    assert_int_equal(name_check((struct str){name, 63}, "a pool", &e), ERR_OK);
    assert_int_equal(name_check((struct str){name, 64}, "a pool", &e), ERR_INVALID);
    assert_int_equal(name_check((struct str){"a\0b", 3}, "a pool", &e), ERR_INVALID);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(amounts_are_thousandths),
        cmocka_unit_test(amounts_that_are_none_are_refused),
        cmocka_unit_test(sizes_are_bytes),
        cmocka_unit_test(durations_are_milliseconds),
        cmocka_unit_test(amounts_come_back_as_text),
        cmocka_unit_test(texts_of_durations_read_back),
        cmocka_unit_test(names_are_checked),
    };
    return cmocka_run_group_tests_name("amount", tests, NULL, NULL);
}
