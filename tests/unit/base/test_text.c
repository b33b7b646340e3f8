/* test_text.c - buffers, pieces of text, UTF-8, errors, base64.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/base64.h"
#include "base/buf.h"
#include "base/fail.h"
#include "base/str.h"
#include "base/utf8.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#undef fail /* ours, not cmocka's */

static void bytes_are_hex_digits_and_back(void **state)
{
    (void)state;
    const uint8_t bytes[] = {0x00, 0x1f, 0xa9, 0xff};
    char text[9];
    uint8_t back[4];
    str_hex(text, bytes, 4);
    assert_string_equal(text, "001fa9ff");
    assert_true(str_unhex(str_of(text), back, 4));
    assert_memory_equal(back, bytes, 4);
    assert_false(str_unhex(str_of("001fa9f"), back, 4));
    assert_false(str_unhex(str_of("001fa9fff"), back, 4));
    assert_false(str_unhex(str_of("001fA9ff"), back, 4));
    assert_false(str_unhex((struct str){"001f\0"
                                        "9ff",
                                        8},
                           back, 4));
}

static void numbers_are_written_in_decimal(void **state)
{
    (void)state;
    char text[STR_U64_MAX];
    assert_int_equal(str_u64(text, 0), 1);
    assert_memory_equal(text, "0", 1);
    assert_int_equal(str_u64(text, UINT64_MAX), 20);
    assert_memory_equal(text, "18446744073709551615", 20);
}

static void a_buffer_grows_to_its_maximum_and_no_further(void **state)
{
    (void)state;
    struct buf buf;
    buf_init(&buf, 10);
    assert_string_equal(buf_text(&buf), "");
    buf_add_str(&buf, "12345");
    buf_addf(&buf, "%d", 678);
    assert_string_equal(buf_text(&buf), "12345678");
    assert_false(buf.full);
    buf_add(&buf, "abc", 3);
    assert_true(buf.full);
    buf_add_char(&buf, 'x'); /* would fit, but what came before is missing */
    assert_string_equal(buf_text(&buf), "12345678");
    buf_clear(&buf);
    assert_false(buf.full);
    buf_add(&buf, "0123456789", 10);
    assert_false(buf.full);
    assert_int_equal(buf.len, 10);
    buf_done(&buf);
    assert_int_equal(buf.len, 0);
    buf_add_char(&buf, 'x'); /* usable again */
    assert_string_equal(buf_text(&buf), "x");
    buf_done(&buf);
}

static void the_front_of_a_buffer_can_be_dropped(void **state)
{
    (void)state;
    struct buf buf;
    buf_init(&buf, 100);
    buf_drop(&buf, 0);
    buf_add_str(&buf, "headtail");
    buf_drop(&buf, 4);
    assert_string_equal(buf_text(&buf), "tail");
    size_t len = 0;
    char *text = buf_steal(&buf, &len);
    assert_string_equal(text, "tail");
    assert_int_equal(len, 4);
    free(text);
    text = buf_steal(&buf, NULL);
    assert_string_equal(text, "");
    free(text);
}

static void text_is_cut_at_a_separator(void **state)
{
    (void)state;
    struct str rest;
    assert_true(str_is(str_cut(str_of("a=b=c"), '=', &rest), "a"));
    assert_true(str_is(rest, "b=c"));
    assert_true(str_is(str_cut(str_of("abc"), '=', &rest), "abc"));
    assert_null(rest.p);
    assert_true(str_is(str_cut(str_of("=x"), '=', &rest), ""));
    assert_true(str_is(rest, "x"));
    assert_true(str_is(str_cut(rest, '=', &rest), "x"));
    assert_true(str_is(str_trim(str_of(" \t a b \r\n")), "a b"));
    assert_true(str_is(str_trim(str_of("  ")), ""));
    assert_true(str_is(str_of(NULL), ""));
    assert_false(str_is(str_of("ab"), "abc"));
}

static void numbers_are_the_whole_text_or_nothing(void **state)
{
    (void)state;
    uint64_t u = 7;
    int64_t i = 7;
    assert_true(str_to_u64(str_of("0"), &u));
    assert_true(u == 0);
    assert_true(str_to_u64(str_of("18446744073709551615"), &u));
    assert_true(u == UINT64_MAX);
    const char *bad[] = {"", "-1", "+1", " 1", "1 ", "1x", "0x1", "18446744073709551616", "1.0"};
    for (size_t k = 0; k < sizeof bad / sizeof bad[0]; k++) {
        u = 7;
        assert_false(str_to_u64(str_of(bad[k]), &u));
        assert_true(u == 7);
    }
    assert_true(str_to_i64(str_of("-9223372036854775807"), &i));
    assert_true(i == -INT64_MAX);
    assert_true(str_to_i64(str_of("9223372036854775807"), &i));
    assert_true(i == INT64_MAX);
    assert_false(str_to_i64(str_of("9223372036854775808"), &i));
    assert_false(str_to_i64(str_of("--1"), &i));
    assert_false(str_to_i64(str_of("-"), &i));
}

static void a_copy_is_cut_to_its_room(void **state)
{
    (void)state;
    char out[4];
    assert_true(str_copy(out, sizeof out, "abc"));
    assert_string_equal(out, "abc");
    assert_false(str_copy(out, sizeof out, "abcd"));
    assert_string_equal(out, "abc");
}

static void only_well_formed_utf8_is_valid(void **state)
{
    (void)state;
    const char *good[] = {
        "",     "abc",          "\xc3\xa9",     "\xe2\x82\xac",    "\xf0\x9f\x98\x80",
        "\x7f", "\xed\x9f\xbf", "\xee\x80\x80", "\xf4\x8f\xbf\xbf"};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        assert_true(utf8_valid(good[i], strlen(good[i])));
    }
    const char *bad[] = {
        "\x80",     "\xc3",         "\xc0\x80",         "\xc1\xbf",         "\xe0\x80\x80",
        "\xe2\x82", "\xed\xa0\x80", "\xf0\x80\x80\x80", "\xf4\x90\x80\x80", "\xf5\x80\x80\x80",
        "\xff",     "a\xc3(",       "\xe2(\xac",        "\xf0\x9f\x98"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_false(utf8_valid(bad[i], strlen(bad[i])));
    }
    assert_int_equal(utf8_step("\xe2\x82\xac", 3), 3);
    assert_int_equal(utf8_step("\xe2\x82\xac", 2), 0);
    assert_int_equal(utf8_step("", 0), 0);
}

static void errors_gain_context_on_the_way_up(void **state)
{
    (void)state;
    struct error e;
    assert_int_equal(fail(&e, ERR_LIMIT, "too many: %d", 7), ERR_LIMIT);
    assert_int_equal(e.code, ERR_LIMIT);
    assert_string_equal(e.text, "too many: 7");
    assert_string_equal(e.path, "");
    assert_int_equal(fail_in(&e, "pools[%d]", 2), ERR_LIMIT);
    assert_string_equal(e.text, "pools[2]: too many: 7");
    assert_int_equal(fail_at(&e, ERR_INVALID, "a.b", "wrong"), ERR_INVALID);
    assert_string_equal(e.path, "a.b");
    assert_int_equal(fail_in(&e, "file"), ERR_INVALID);
    assert_string_equal(e.path, "a.b");
    assert_int_equal(fail_errno(&e, ERR_IO, ENOSPC, "writing '%s'", "x"), ERR_IO);
    assert_string_equal(e.text, "writing 'x': No space left on device");
    assert_int_equal(fail(NULL, ERR_BUSY, "nobody listens"), ERR_BUSY);
}

static void long_errors_are_cut_not_overrun(void **state)
{
    (void)state;
    char text[600];
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    struct error e;
    (void)fail_at(&e, ERR_INVALID, text, "%s", text);
    assert_int_equal(strlen(e.text), ERROR_TEXT_MAX - 1);
    assert_int_equal(strlen(e.path), ERROR_PATH_MAX - 1);
    (void)fail_in(&e, "front");
    assert_int_equal(strlen(e.text), ERROR_TEXT_MAX - 1);
    assert_memory_equal(e.text, "front: xxx", 10);
    (void)fail_in(&e, "%s", text);
    assert_int_equal(strlen(e.text), ERROR_TEXT_MAX - 1);
    (void)fail_errno(&e, ERR_IO, EIO, "%s", text);
    assert_int_equal(strlen(e.text), ERROR_TEXT_MAX - 1);
}

static void every_error_code_has_a_name(void **state)
{
    (void)state;
    for (int i = 0; i < ERR_COUNT; i++) {
        assert_non_null(fail_code_name((enum err)i));
        assert_true(strlen(fail_code_name((enum err)i)) > 1);
    }
    assert_string_equal(fail_code_name(ERR_NOT_FOUND), "not-found");
}

static void base64_is_that_of_the_rfc(void **state)
{
    (void)state;
    static const struct {
        const char *plain;
        const char *coded;
    } cases[] = {{"", ""},
                 {"f", "Zg=="},
                 {"fo", "Zm8="},
                 {"foo", "Zm9v"},
                 {"foob", "Zm9vYg=="},
                 {"fooba", "Zm9vYmE="},
                 {"foobar", "Zm9vYmFy"},
                 {"\xfb\xff", "+/8="}};
    struct arena arena;
    arena_init(&arena);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct buf out;
        buf_init(&out, 100);
        base64_add(&out, str_of(cases[i].plain));
        assert_string_equal(buf_text(&out), cases[i].coded);
        buf_done(&out);
        struct str back;
        assert_true(base64_decode(&arena, str_of(cases[i].coded), &back));
        assert_true(str_is(back, cases[i].plain));
    }
    const char *bad[] = {
        "Zg=", "Zg", "Z===", "====", "Zh==", "Zm9=", "Zg==Zg==", "Zm9v\n", "Zm-v", "=m9v", "Z=9v"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct str back;
        assert_false(base64_decode(&arena, str_of(bad[i]), &back));
    }
    arena_done(&arena);
}

static void base64_takes_every_byte_and_length(void **state)
{
    (void)state;
    struct arena arena;
    arena_init(&arena);
    char bytes[700];
    for (size_t i = 0; i < sizeof bytes; i++) {
        bytes[i] = (char)(i * 37);
    }
    for (size_t len = 0; len <= sizeof bytes; len++) {
        struct buf out;
        struct str back;
        buf_init(&out, 2000);
        base64_add(&out, (struct str){bytes, len});
        assert_int_equal(out.len, (len + 2) / 3 * 4);
        assert_true(base64_decode(&arena, (struct str){buf_text(&out), out.len}, &back));
        assert_true(str_equal(back, (struct str){bytes, len}));
        buf_done(&out);
    }
    arena_done(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_buffer_grows_to_its_maximum_and_no_further),
        cmocka_unit_test(bytes_are_hex_digits_and_back),
        cmocka_unit_test(numbers_are_written_in_decimal),
        cmocka_unit_test(the_front_of_a_buffer_can_be_dropped),
        cmocka_unit_test(text_is_cut_at_a_separator),
        cmocka_unit_test(numbers_are_the_whole_text_or_nothing),
        cmocka_unit_test(a_copy_is_cut_to_its_room),
        cmocka_unit_test(only_well_formed_utf8_is_valid),
        cmocka_unit_test(errors_gain_context_on_the_way_up),
        cmocka_unit_test(long_errors_are_cut_not_overrun),
        cmocka_unit_test(every_error_code_has_a_name),
        cmocka_unit_test(base64_is_that_of_the_rfc),
        cmocka_unit_test(base64_takes_every_byte_and_length),
    };
    return cmocka_run_group_tests_name("text", tests, NULL, NULL);
}
