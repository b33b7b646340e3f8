/* test_text.c - widths, escapes, times for people
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/text.h"
#include "base/width.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static const char *made(struct buf *buf, void (*fn)(struct buf *, int64_t, int64_t), int64_t a,
                        int64_t b)
{
    buf_clear(buf);
    fn(buf, a, b);
    return buf_text(buf);
}

static void width_counts_columns_not_bytes(void **state)
{
    (void)state;
    assert_int_equal(width_of(str_of("abc")), 3);
    assert_int_equal(width_of(str_of("é")), 1);
    assert_int_equal(width_of(str_of("e\u0301")), 1); /* combining */
    assert_int_equal(width_of(str_of("日本")), 4);
    assert_int_equal(width_of(str_of("🚀")), 2);
    assert_int_equal(width_of(str_of("\xff\xfe")), 2); /* not UTF-8 */
    assert_int_equal(width_of(str_of("")), 0);
}

static void fit_never_cuts_a_character(void **state)
{
    (void)state;
    assert_int_equal(width_fit(str_of("abcdef"), 3), 3);
    assert_int_equal(width_fit(str_of("日本"), 3), 3); /* one of two */
    assert_int_equal(width_fit(str_of("日本"), 1), 0);
    assert_int_equal(width_fit(str_of("ab"), 10), 2);
}

static void what_a_terminal_obeys_is_made_visible(void **state)
{
    (void)state;
    struct buf out;
    buf_init(&out, 1000);
    text_escape(&out, str_of("a\033[31mb\nc\td\x7f\xff"));
    assert_string_equal(buf_text(&out), "a\\x1b[31mb\\nc\\td\\x7f\\xff");
    buf_clear(&out);
    text_escape(&out, str_of("\u202eevil \xc2\x85 ü"));
    assert_string_equal(buf_text(&out), "\\u202eevil \\u0085 ü");
    buf_done(&out);
}

static void ages_are_short(void **state)
{
    (void)state;
    struct buf out;
    buf_init(&out, 100);
    const int64_t now = 1000000000000;
    assert_string_equal(made(&out, text_ago, now, now), "just now");
    assert_string_equal(made(&out, text_ago, now - 59999, now), "59s ago");
    assert_string_equal(made(&out, text_ago, now - 60000, now), "1m ago");
    assert_string_equal(made(&out, text_ago, now - 3600000, now), "1h ago");
    assert_string_equal(made(&out, text_ago, now - 47 * 3600000LL, now), "47h ago");
    assert_string_equal(made(&out, text_ago, now - 48 * 3600000LL, now), "2d ago");
    assert_string_equal(made(&out, text_ago, now + 300000, now), "in 5m");
    buf_done(&out);
}

static void spans_keep_two_units(void **state)
{
    (void)state;
    struct buf out;
    buf_init(&out, 200);
    text_span(&out, 1234);
    buf_add_char(&out, ' ');
    text_span(&out, 42000);
    buf_add_char(&out, ' ');
    text_span(&out, 192000);
    buf_add_char(&out, ' ');
    text_span(&out, 5 * 3600000LL + 7 * 60000);
    buf_add_char(&out, ' ');
    text_span(&out, 50 * 3600000LL);
    buf_add_char(&out, ' ');
    text_span(&out, -5);
    assert_string_equal(buf_text(&out), "1.2s 42s 3m12s 5h07m 2d02h 0.0s");
    buf_done(&out);
}

static void times_survive_the_round_trip(void **state)
{
    (void)state;
    int64_t ms = 0;
    char text[TEXT_TIME_MAX];
    assert_true(text_time_parse(str_of("2026-11-15T12:00:00.250Z"), &ms));
    assert_int_equal(ms, 1794744000250);
    text_time(ms, text);
    assert_string_equal(text, "2026-11-15T12:00:00.250Z");
    assert_true(text_time_parse(str_of("1970-01-01T00:00:00Z"), &ms));
    assert_int_equal(ms, 0);
    assert_false(text_time_parse(str_of("2026-11-15 12:00:00"), &ms));
    assert_false(text_time_parse(str_of("yesterday"), &ms));
    assert_false(text_time_parse(str_of(""), &ms));
}

static void a_moment_is_a_time_or_a_way_back(void **state)
{
    (void)state;
    int64_t ms = 0;
    assert_true(text_moment(str_of("2h"), 10000000, &ms));
    assert_int_equal(ms, 10000000 - 7200000);
    assert_true(text_moment(str_of("1970-01-01T00:00:01.000Z"), 10000000, &ms));
    assert_int_equal(ms, 1000);
    assert_false(text_moment(str_of("soon"), 10000000, &ms));
}

static void wrapped(const char *text, size_t columns, const char *want)
{
    struct buf out;
    buf_init(&out, 1024);
    text_wrap(&out, str_of(text), columns, 6);
    assert_string_equal(buf_text(&out), want);
    buf_done(&out);
}

static void lines_break_between_words(void **state)
{
    (void)state;
    wrapped("weir: short", 20, "weir: short");
    wrapped("weir: one two three four", 13, "weir: one two\n      three\n      four");
    wrapped("weir: /a/very/long/path is long", 12,
            "weir:\n      /a/very/long/path\n      is\n      long");
    wrapped("      indented a lot", 10, "      indented\n      a\n      lot");
    wrapped("unbroken-and-long", 5, "unbroken-and-long");
    wrapped("", 5, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(width_counts_columns_not_bytes),
        cmocka_unit_test(fit_never_cuts_a_character),
        cmocka_unit_test(lines_break_between_words),
        cmocka_unit_test(what_a_terminal_obeys_is_made_visible),
        cmocka_unit_test(ages_are_short),
        cmocka_unit_test(spans_keep_two_units),
        cmocka_unit_test(times_survive_the_round_trip),
        cmocka_unit_test(a_moment_is_a_time_or_a_way_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
