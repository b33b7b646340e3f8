/* chart.c - see chart.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "sim/chart.h"

#include "base/must.h"

#include <inttypes.h>

enum {
    LEFT = 64,
    RIGHT = 12,
    TOP = 10,
    BOTTOM = 30,
    PLOT_WIDTH = CHART_WIDTH - LEFT - RIGHT,
    PLOT_HEIGHT = CHART_HEIGHT - TOP - BOTTOM,
    Y_TICKS = 4,
    X_TICKS_MAX = 9,
};

void html_text(struct buf *out, const char *text)
{
    for (; *text != '\0'; text++) {
        switch (*text) {
        case '&':
            buf_add_str(out, "&amp;");
            break;
        case '<':
            buf_add_str(out, "&lt;");
            break;
        case '>':
            buf_add_str(out, "&gt;");
            break;
        case '"':
            buf_add_str(out, "&quot;");
            break;
        default:
            buf_add_char(out, *text);
        }
    }
}

/* ---- positions, in tenths of a pixel ---- */

static int64_t scaled(int64_t value, int64_t max, int64_t pixels)
{
    return max <= 0 ? 0 : (int64_t)((__int128)value * pixels * 10 / max);
}

static int64_t x_of(const struct chart *chart, int64_t x)
{
    return LEFT * 10 + scaled(x, chart->x_max, PLOT_WIDTH);
}

static int64_t y_of(const struct chart *chart, int64_t y)
{
    return (TOP + PLOT_HEIGHT) * 10 - scaled(y, chart->y_max, PLOT_HEIGHT);
}

static void tenths(struct buf *out, int64_t value)
{
    buf_addf(out, "%" PRId64 ".%" PRId64, value / 10, value % 10);
}

static void point(struct buf *out, int64_t x, int64_t y)
{
    tenths(out, x);
    buf_add_char(out, ',');
    tenths(out, y);
    buf_add_char(out, ' ');
}

/* ---- axes ---- */

/* The next of 1, 2, 3, 4, 6, 8, 10, 20 … times `unit`. */
static int64_t round_up(int64_t value, int64_t unit)
{
    static const int64_t steps[] = {1, 2, 3, 4, 6, 8, 10};
    int64_t scale = unit;
    for (;;) {
        for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
            if (steps[i] * scale >= value) {
                return steps[i] * scale;
            }
        }
        scale *= 10;
    }
}

static void y_axis(const struct chart *chart)
{
    for (int64_t i = 0; i <= Y_TICKS; i++) {
        const int64_t value = chart->y_max * i / Y_TICKS;
        const int64_t y = y_of(chart, value);
        const int64_t hundredths = value * 100 / chart->y_unit;
        buf_addf(chart->out, "<line class=\"grid\" x1=\"%d\" x2=\"%d\" y1=\"", LEFT,
                 LEFT + PLOT_WIDTH);
        tenths(chart->out, y);
        buf_add_str(chart->out, "\" y2=\"");
        tenths(chart->out, y);
        buf_addf(chart->out, "\"/><text class=\"tick\" text-anchor=\"end\" x=\"%d\" y=\"",
                 LEFT - 8);
        tenths(chart->out, y + 40);
        buf_addf(chart->out, "\">%" PRId64, hundredths / 100);
        if (hundredths % 100 != 0) {
            buf_addf(chart->out, ".%02" PRId64, hundredths % 100);
        }
        buf_add_str(chart->out, "</text>");
    }
}

static const struct {
    int64_t ms;
    int64_t unit_ms;
    const char *unit;
} time_steps[] = {
    {1000, 1000, "s"},           {5000, 1000, "s"},
    {15000, 1000, "s"},          {60000, 60000, "m"},
    {300000, 60000, "m"},        {900000, 60000, "m"},
    {3600000, 3600000, "h"},     {10800000, 3600000, "h"},
    {21600000, 3600000, "h"},    {43200000, 3600000, "h"},
    {86400000, 86400000, "d"},   {172800000, 86400000, "d"},
    {604800000, 86400000, "d"},  {2419200000, 86400000, "d"},
    {7257600000, 86400000, "d"}, {31536000000, 86400000, "d"},
};
enum { TIME_STEP_COUNT = sizeof time_steps / sizeof time_steps[0] };

/* Every second one is left out of a narrow page. */
static void x_label(const struct chart *chart, int64_t x, bool odd)
{
    buf_addf(chart->out, "<text class=\"tick%s\" text-anchor=\"middle\" x=\"", odd ? " odd" : "");
    tenths(chart->out, x);
    buf_addf(chart->out, "\" y=\"%d\">", CHART_HEIGHT - 8);
}

static void time_axis(const struct chart *chart)
{
    size_t step = 0;
    while (step + 1 < TIME_STEP_COUNT && chart->x_max / time_steps[step].ms > X_TICKS_MAX) {
        step++;
    }
    for (int64_t at = 0; at <= chart->x_max; at += time_steps[step].ms) {
        x_label(chart, x_of(chart, at), at / time_steps[step].ms % 2 != 0);
        buf_addf(chart->out, "%" PRId64 "%s</text>", at / time_steps[step].unit_ms,
                 time_steps[step].unit);
    }
}

static void svg_begin(struct chart *chart)
{
    buf_addf(chart->out, "<svg viewBox=\"0 0 %d %d\" role=\"img\">", CHART_WIDTH, CHART_HEIGHT);
    y_axis(chart);
}

void chart_begin_time(struct chart *chart, struct buf *out, int64_t x_max, int64_t y_max,
                      int64_t y_unit)
{
    *chart = (struct chart){.out = out, .x_max = x_max > 0 ? x_max : 1, .y_unit = y_unit};
    chart->y_max = round_up(y_max > 0 ? y_max : 1, y_unit);
    svg_begin(chart);
    time_axis(chart);
}

void chart_begin_bars(struct chart *chart, struct buf *out, const char *const *labels, size_t count,
                      int64_t y_max, int64_t y_unit)
{
    *chart = (struct chart){.out = out, .x_max = (int64_t)count, .y_unit = y_unit};
    chart->y_max = round_up(y_max > 0 ? y_max : 1, y_unit);
    svg_begin(chart);
    for (size_t i = 0; i < count; i++) {
        const int64_t middle = (x_of(chart, (int64_t)i) + x_of(chart, (int64_t)i + 1)) / 2;
        if (labels[i] != NULL) {
            x_label(chart, middle, i % 2 != 0);
            html_text(out, labels[i]);
            buf_add_str(out, "</text>");
        }
    }
}

void chart_end(struct chart *chart)
{
    buf_add_str(chart->out, "</svg>\n");
}

/* ---- what is drawn ---- */

void chart_line(const struct chart *chart, const struct chart_point *points, size_t count,
                const char *class_name)
{
    buf_addf(chart->out, "<polyline class=\"line %s\" points=\"", class_name);
    for (size_t i = 0; i < count; i++) {
        if (i > 0) {
            point(chart->out, x_of(chart, points[i].x), y_of(chart, points[i - 1].y));
        }
        point(chart->out, x_of(chart, points[i].x), y_of(chart, points[i].y));
    }
    buf_add_str(chart->out, "\"/>");
}

void chart_area(const struct chart *chart, const struct chart_point *points, size_t count,
                const char *class_name)
{
    buf_addf(chart->out, "<polygon class=\"area %s\" points=\"", class_name);
    for (size_t i = 0; i < count; i++) {
        if (i > 0) {
            point(chart->out, x_of(chart, points[i].x), y_of(chart, points[i - 1].y));
        }
        point(chart->out, x_of(chart, points[i].x), y_of(chart, points[i].y));
    }
    for (size_t i = count; i > 0; i--) {
        point(chart->out, x_of(chart, points[i - 1].x), y_of(chart, points[i - 1].low));
        if (i > 1) {
            point(chart->out, x_of(chart, points[i - 1].x), y_of(chart, points[i - 2].low));
        }
    }
    buf_add_str(chart->out, "\"/>");
}

void chart_bar(const struct chart *chart, size_t index, size_t count, int64_t y,
               const char *class_name, const char *title)
{
    must(index < count);
    const int64_t left = x_of(chart, (int64_t)index);
    const int64_t right = x_of(chart, (int64_t)index + 1);
    const int64_t gap = (right - left) / 8;
    buf_addf(chart->out, "<rect class=\"bar %s\" rx=\"2\" x=\"", class_name);
    tenths(chart->out, left + gap);
    buf_add_str(chart->out, "\" y=\"");
    tenths(chart->out, y_of(chart, y));
    buf_add_str(chart->out, "\" width=\"");
    tenths(chart->out, right - left - 2 * gap);
    buf_add_str(chart->out, "\" height=\"");
    tenths(chart->out, y_of(chart, 0) - y_of(chart, y));
    buf_add_str(chart->out, "\"><title>");
    html_text(chart->out, title);
    buf_add_str(chart->out, "</title></rect>");
}
