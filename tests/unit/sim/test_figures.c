/* test_figures.c - spreads, series, and numbers as people read them.
 * SPDX-License-Identifier: Apache-2.0 */
#include "sim/day_share.h"
#include "sim/series.h"
#include "sim/spread.h"
#include "sim/sim_text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

static void a_spread_is_of_times_that_occurred(void **state)
{
    (void)state;
    int64_t times[100];
    for (int i = 0; i < 100; i++) {
        times[i] = 100 - i; /* 1 .. 100 */
    }
    const struct spread spread = spread_of(times, 100);
    assert_int_equal(spread.count, 100);
    assert_int_equal(spread.mean_ms, 51); /* 50.5, rounded */
    assert_int_equal(spread.p50_ms, 50);  /* half of them are at most this */
    assert_int_equal(spread.p90_ms, 90);
    assert_int_equal(spread.p99_ms, 99);
    assert_int_equal(spread.max_ms, 100);
    const struct spread none = spread_of(times, 0);
    assert_int_equal(none.count, 0);
    assert_int_equal(none.max_ms, 0);
    int64_t two[] = {9, 4};
    assert_int_equal(spread_of(two, 2).p50_ms, 4);
    assert_int_equal(spread_of(two, 2).p90_ms, 9);
    int64_t one = 7;
    assert_int_equal(spread_of(&one, 1).p99_ms, 7);
}

static void every_size_has_a_class(void **state)
{
    (void)state;
    assert_string_equal(spread_class_name(spread_class_of(0)), "no slots");
    assert_string_equal(spread_class_name(spread_class_of(500)), "part of a slot");
    assert_string_equal(spread_class_name(spread_class_of(1000)), "1 slot");
    assert_string_equal(spread_class_name(spread_class_of(3000)), "3-4 slots");
    assert_string_equal(spread_class_name(spread_class_of(64000)), "33-64 slots");
    assert_string_equal(spread_class_name(spread_class_of(INT64_MAX)), "over 64 slots");
}

/* However long the run: at most so many samples, at even distances from 0 on. */
static void a_series_thins_out(void **state)
{
    (void)state;
    static struct series series;
    series_init(&series, 1000);
    for (int64_t i = 0; i < 100000; i++) {
        const int64_t at_ms = series_next_ms(&series);
        const struct sample sample = {.pending = (uint64_t)at_ms};
        assert_true(at_ms >= 0);
        series_add(&series, &sample);
        assert_true(series.count < SERIES_SAMPLES_MAX);
    }
    assert_true(series_next_ms(&series) == INT64_MAX); /* 64 bits of milliseconds are over */
    assert_true(series.count >= SERIES_SAMPLES_MAX / 2);
    for (size_t i = 0; i < series.count; i++) {
        assert_int_equal(series.at[i].at_ms, (int64_t)i * series.step_ms);
        assert_int_equal(series.at[i].pending, series.at[i].at_ms);
    }
}

static void a_day_below_the_share_is_a_mean(void **state)
{
    (void)state;
    enum { HOUR_MS = 3600000 };
    struct day_shares days = {0};
    assert_int_equal(day_share_due(&days, 1), 1); /* hour 0 begins at 0 */
    assert_int_equal(day_share_due(&days, HOUR_MS), 1);
    assert_int_equal(day_share_due(&days, HOUR_MS + 1), 2);
    for (int i = 0; i < 48; i++) {
        /* Account 0 is above and below by turns. Account 1 is below for 12 hours. */
        day_share_note(&days, 0, i % 2 == 0 ? 1000 : -1000, 1);
        day_share_note(&days, 1, i < 12 ? 4000 : 0, 1);
        day_share_passed(&days, 1);
    }
    assert_int_equal(day_share_most(&days, 0), 1000 / 24);
    assert_int_equal(day_share_most(&days, 1), 2000);
    assert_int_equal(day_share_due(&days, (int64_t)48 * HOUR_MS), 0);
    day_share_note(&days, 2, 3000, 1000000); /* a long time without an event */
    day_share_passed(&days, 1000000);
    assert_int_equal(day_share_most(&days, 2), 3000);
    assert_int_equal(day_share_most(&days, 3), 0);
    day_share_done(&days);
}

static void spans_have_the_digits_that_matter(void **state)
{
    (void)state;
    char out[SIM_TEXT_MAX];
    assert_string_equal(sim_text_span(0, out), "0s");
    assert_string_equal(sim_text_span(999, out), "999ms");
    assert_string_equal(sim_text_span(12345, out), "12.3s");
    assert_string_equal(sim_text_span(60000, out), "1m00s");
    assert_string_equal(sim_text_span(59949, out), "59.9s");
    assert_string_equal(sim_text_span(59950, out), "1m00s");
    assert_string_equal(sim_text_span(3599499, out), "59m59s");
    assert_string_equal(sim_text_span(3599999, out), "1h00m"); /* rounded, never "59m60s" */
    assert_string_equal(sim_text_span(2 * 3600000 - 160, out), "2h00m");
    assert_string_equal(sim_text_span(86399999, out), "1d00h");
    assert_string_equal(sim_text_span(5 * 3600000 + 7 * 60000, out), "5h07m");
    assert_string_equal(sim_text_span(51LL * 3600000, out), "2d03h");
}

static void numbers_are_grouped_and_rounded(void **state)
{
    (void)state;
    char out[SIM_TEXT_MAX];
    assert_string_equal(sim_text_count(0, out), "0");
    assert_string_equal(sim_text_count(999, out), "999");
    assert_string_equal(sim_text_count(1234567, out), "1,234,567");
    assert_string_equal(sim_text_count(UINT64_MAX, out), "18,446,744,073,709,551,615");
    assert_string_equal(sim_text_percent(1, 3, out), "33.33");
    assert_string_equal(sim_text_percent(2, 3, out), "66.67");
    assert_string_equal(sim_text_percent(5, 0, out), "0.00");
    assert_string_equal(sim_text_percent(-1, 4, out), "-25.00");
    assert_string_equal(sim_text_milli(1250, out), "1.3");
    assert_string_equal(sim_text_milli(-1250, out), "-1.3");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_spread_is_of_times_that_occurred),
        cmocka_unit_test(every_size_has_a_class),
        cmocka_unit_test(a_series_thins_out),
        cmocka_unit_test(a_day_below_the_share_is_a_mean),
        cmocka_unit_test(spans_have_the_digits_that_matter),
        cmocka_unit_test(numbers_are_grouped_and_rounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
