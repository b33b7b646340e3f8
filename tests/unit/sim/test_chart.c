/* test_chart.c - axes with round numbers, values for the pointer, text that stays text.
 * SPDX-License-Identifier: Apache-2.0 */
#include "sim/chart.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

enum { OUT_MAX = 1 << 16 };
#define HOUR_MS INT64_C(3600000)

static struct buf out;

static int setup(void **state)
{
    (void)state;
    buf_init(&out, OUT_MAX);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    buf_done(&out);
    return 0;
}

static void draw(int64_t x_max, int64_t y_max, int64_t y_unit, const char *name)
{
    const struct chart_point points[] = {{0, 0, y_max}, {x_max / 2, 1, y_max}};
    const struct chart_axes axes = {.label = "<label>",
                                    .unit = "things",
                                    .x_max = x_max,
                                    .y_max = y_max,
                                    .y_unit = y_unit,
                                    .step_ms = x_max / 2};
    struct chart chart;
    buf_clear(&out);
    chart_begin_time(&chart, &out, &axes);
    chart_area(&chart, &(struct chart_series){points, 2, "c0", "k0", name});
    chart_end(&chart);
}

static void has(const char *text)
{
    if (strstr(buf_text(&out), text) == NULL) {
        fail_msg("no '%s' in %s", text, buf_text(&out));
    }
}

/* The ticks at a quarter and at the upper end. */
static void ticks_are(const char *quarter, const char *top)
{
    char text[64];
    (void)snprintf(text, sizeof text, ">%s</span>", quarter);
    has(text);
    (void)snprintf(text, sizeof text, ">%s</span>", top);
    has(text);
}

static void ticks_are_round_and_whole(void **state)
{
    (void)state;
    draw(1000, 1, 1, "a"); /* there is no quarter of a task */
    ticks_are("1", "4");
    draw(1000, 493, 1, "a");
    ticks_are("150", "600");
    draw(1000, 104000, 1000, "a");
    ticks_are("30", "120");
    draw(1000, 64000, 1000, "a");
    ticks_are("20", "80");
    draw(1000, 1000, 1000, "a"); /* but there is one of a slot */
    ticks_are("0.25", "1");
    draw(1000, INT64_C(1000000000000), 1000, "a");
    ticks_are("250000000", "1000000000");
}

static void times_have_the_unit_that_fits(void **state)
{
    (void)state;
    char text[32];
    assert_string_equal(chart_time_text(0, text, sizeof text), "0");
    assert_string_equal(chart_time_text(15000, text, sizeof text), "15s");
    assert_string_equal(chart_time_text(300000, text, sizeof text), "5m");
    assert_string_equal(chart_time_text(HOUR_MS * 3 / 2, text, sizeof text), "1h30m");
    assert_string_equal(chart_time_text(12 * HOUR_MS, text, sizeof text), "12h");
    assert_string_equal(chart_time_text(36 * HOUR_MS, text, sizeof text), "1d12h");
    assert_string_equal(chart_time_text(48 * HOUR_MS, text, sizeof text), "2d");
    draw(72 * HOUR_MS, 4, 1, "a");
    has(">12h</span>");
    has(">1d12h</span>");
    has(">3d</span>");
}

/* A trace that begins at 1 October 2017, 20:00: ticks are at midnight. */
static void dates_are_round(void **state)
{
    (void)state;
    const struct chart_point points[] = {{0, 0, 1}};
    struct chart_axes axes = {.label = "",
                              .unit = "",
                              .x_max = 72 * HOUR_MS,
                              .y_max = 1,
                              .y_unit = 1,
                              .step_ms = HOUR_MS,
                              .begins_ms = INT64_C(1506888000000)};
    struct chart chart;
    chart_begin_time(&chart, &out, &axes);
    chart_line(&chart, &(struct chart_series){points, 1, "c0", "k0", "a"});
    chart_end(&chart);
    has("left:5.5%\">2 Oct</span>");
    has(">12:00</span>");
    has(">4 Oct</span>");
    assert_null(strstr(buf_text(&out), ">1 Oct</span>"));
    buf_clear(&out);
    axes.x_max = 400 * 24 * HOUR_MS;
    chart_begin_time(&chart, &out, &axes);
    chart_line(&chart, &(struct chart_series){points, 1, "c0", "k0", "a"});
    chart_end(&chart);
    has(" 2018</span>");
}

/* An area's values are heights; what names hold is text, in JSON and in HTML. */
static void values_go_with_the_chart(void **state)
{
    (void)state;
    draw(2000, 8, 1, "a\"<b>");
    has("aria-label=\"&lt;label&gt;\"");
    has("&quot;name&quot;:&quot;a\\&quot;&lt;b&gt;&quot;");
    has("&quot;values&quot;:[8,7]");
    has("&quot;max&quot;:2,&quot;begins&quot;:0,&quot;step&quot;:1,");
    assert_null(strstr(buf_text(&out), "<b>"));
}

#define WITH_BUF(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_BUF(ticks_are_round_and_whole),
        WITH_BUF(times_have_the_unit_that_fits),
        WITH_BUF(dates_are_round),
        WITH_BUF(values_go_with_the_chart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
