/* chart.c - see chart.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "sim/chart.h"

#include "base/must.h"

#include <inttypes.h>

enum {
    LEFT = 56,
    RIGHT = 16,
    TOP = 26,
    BOTTOM = 28,
    Y_TICKS = 4,
    X_TICKS_MAX = 9,
    X_TICKS_MAX_SMALL = 5,
    VALUES_BYTES_MAX = 1 << 20,
};
#define DAY_MS INT64_C(86400000)
#define HOUR_MS INT64_C(3600000)

static const struct {
    int64_t width;
    int64_t height;
} sizes[] = {[CHART_WIDE] = {900, 264}, [CHART_SMALL] = {420, 190}};

void chart_html_text(struct buf *out, const char *text)
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

static int64_t plot_width(const struct chart *chart)
{
    return chart->width - LEFT - RIGHT;
}

static int64_t plot_height(const struct chart *chart)
{
    return chart->height - TOP - BOTTOM;
}

static int64_t scaled(int64_t value, int64_t max, int64_t pixels)
{
    return max <= 0 ? 0 : (int64_t)((__int128)value * pixels * 10 / max);
}

static int64_t x_of(const struct chart *chart, int64_t x)
{
    return LEFT * 10 + scaled(x, chart->axes.x_max, plot_width(chart));
}

static int64_t y_of(const struct chart *chart, int64_t y)
{
    return (TOP + plot_height(chart)) * 10 - scaled(y, chart->axes.y_max, plot_height(chart));
}

static void tenths(struct buf *out, int64_t value)
{
    buf_addf(out, "%" PRId64, value / 10);
    if (value % 10 != 0) {
        buf_addf(out, ".%" PRId64, value % 10);
    }
}

static void point(struct buf *out, int64_t x, int64_t y)
{
    tenths(out, x);
    buf_add_char(out, ',');
    tenths(out, y);
    buf_add_char(out, ' ');
}

static void text_at(struct buf *out, const char *class_name, const char *anchor, int64_t x,
                    int64_t y)
{
    buf_addf(out, "<text class=\"%s\" text-anchor=\"%s\" x=\"", class_name, anchor);
    tenths(out, x);
    buf_add_str(out, "\" y=\"");
    tenths(out, y);
    buf_add_str(out, "\">");
}

/* ---- axes ---- */

/* Returns the next round number of units whose quarters are whole, because the ticks are at the
 * quarters. */
static int64_t round_up(int64_t value, int64_t unit)
{
    static const int64_t steps[] = {1, 2, 3, 4, 6, 8, 10, 12, 16, 20, 24, 32, 40, 48, 60, 80};
    enum { TEN = 6 }; /* from this entry on the steps repeat, ten times as large */
    size_t i = 0;
    while (steps[i] * unit < value || steps[i] * unit % Y_TICKS != 0) {
        i++;
        if (i == sizeof steps / sizeof steps[0]) {
            i = TEN;
            unit *= 10;
        }
    }
    return steps[i] * unit;
}

static void y_axis(const struct chart *chart)
{
    struct buf *out = chart->out;
    for (int64_t i = 0; i <= Y_TICKS; i++) {
        const int64_t value = chart->axes.y_max * i / Y_TICKS;
        const int64_t y = y_of(chart, value);
        const int64_t hundredths = value * 100 / chart->axes.y_unit;
        buf_addf(out, "<line class=\"grid\" x1=\"%d\" x2=\"%" PRId64 "\" y1=\"", LEFT,
                 LEFT + plot_width(chart));
        tenths(out, y);
        buf_add_str(out, "\" y2=\"");
        tenths(out, y);
        buf_add_str(out, "\"/>");
        text_at(out, "tick", "end", (LEFT - 8) * 10, y + 40);
        buf_addf(out, "%" PRId64, hundredths / 100);
        if (hundredths % 100 != 0) {
            buf_addf(out, ".%02" PRId64, hundredths % 100);
        }
        buf_add_str(out, "</text>");
    }
    text_at(out, "tick unit", "start", 40, (TOP - 14) * 10);
    chart_html_text(out, chart->axes.unit);
    buf_add_str(out, "</text>");
}

/* Round distances between two ticks. */
static const int64_t time_steps[] = {
    1000,       5000,        15000,       60000,        300000,       900000,
    HOUR_MS,    3 * HOUR_MS, 6 * HOUR_MS, 12 * HOUR_MS, DAY_MS,       2 * DAY_MS,
    7 * DAY_MS, 14 * DAY_MS, 28 * DAY_MS, 84 * DAY_MS,  365 * DAY_MS, 3650 * DAY_MS,
};
enum { TIME_STEP_COUNT = sizeof time_steps / sizeof time_steps[0] };

const char *chart_time_text(int64_t ms, char *out, size_t size)
{
    if (ms >= DAY_MS && ms % DAY_MS >= HOUR_MS) {
        (void)snprintf(out, size, "%" PRId64 "d%02" PRId64 "h", ms / DAY_MS, ms % DAY_MS / HOUR_MS);
    } else if (ms >= DAY_MS) {
        (void)snprintf(out, size, "%" PRId64 "d", ms / DAY_MS);
    } else if (ms >= HOUR_MS && ms % HOUR_MS >= 60000) {
        (void)snprintf(out, size, "%" PRId64 "h%02" PRId64 "m", ms / HOUR_MS, ms % HOUR_MS / 60000);
    } else if (ms >= HOUR_MS) {
        (void)snprintf(out, size, "%" PRId64 "h", ms / HOUR_MS);
    } else if (ms >= 60000 && ms % 60000 == 0) {
        (void)snprintf(out, size, "%" PRId64 "m", ms / 60000);
    } else {
        (void)snprintf(out, size, ms == 0 ? "%" PRId64 : "%" PRId64 "s", ms / 1000);
    }
    return out;
}

/* Writes a label below the x axis. A narrow page hides every second label. */
static void x_label(const struct chart *chart, int64_t x, bool odd, const char *text)
{
    text_at(chart->out, odd ? "tick odd" : "tick", "middle", x, (chart->height - 6) * 10);
    chart_html_text(chart->out, text);
    buf_add_str(chart->out, "</text>");
}

static void time_axis(const struct chart *chart)
{
    const int64_t most = chart->axes.size == CHART_WIDE ? X_TICKS_MAX : X_TICKS_MAX_SMALL;
    size_t step = 0;
    while (step + 1 < TIME_STEP_COUNT && chart->axes.x_max / time_steps[step] > most) {
        step++;
    }
    for (int64_t at = 0; at <= chart->axes.x_max; at += time_steps[step]) {
        char text[32];
        x_label(chart, x_of(chart, at), at / time_steps[step] % 2 != 0,
                chart_time_text(at, text, sizeof text));
    }
}

static void begin(struct chart *chart, struct buf *out, const struct chart_axes *axes, bool live)
{
    *chart = (struct chart){.out = out,
                            .axes = *axes,
                            .width = sizes[axes->size].width,
                            .height = sizes[axes->size].height};
    chart->axes.x_max = axes->x_max > 0 ? axes->x_max : 1;
    chart->axes.y_max = round_up(axes->y_max > 0 ? axes->y_max : 1, axes->y_unit);
    buf_init(&chart->values, VALUES_BYTES_MAX);
    json_out_init(&chart->json, &chart->values);
    buf_addf(out, "<figure class=\"%s%s\">", axes->size == CHART_WIDE ? "wide" : "narrow",
             live ? " live" : "");
    buf_addf(out, "<svg viewBox=\"0 0 %" PRId64 " %" PRId64 "\" role=\"img\" aria-label=\"",
             chart->width, chart->height);
    chart_html_text(out, axes->label);
    buf_add_str(out, "\">");
    y_axis(chart);
}

void chart_begin_time(struct chart *chart, struct buf *out, const struct chart_axes *axes)
{
    begin(chart, out, axes, true);
    time_axis(chart);
    struct json_out *j = &chart->json;
    json_out_object(j);
    json_out_kv_i64(j, "left", LEFT);
    json_out_kv_i64(j, "width", plot_width(chart));
    json_out_kv_i64(j, "top", TOP);
    json_out_kv_milli(j, "max", chart->axes.x_max);
    json_out_kv_milli(j, "step", axes->step_ms);
    json_out_kv_text(j, "unit", axes->unit);
    json_out_key(j, "series");
    json_out_array(j);
}

void chart_begin_bars(struct chart *chart, struct buf *out, const struct chart_axes *axes,
                      const char *const *labels)
{
    begin(chart, out, axes, false);
    for (int64_t i = 0; i < axes->x_max; i++) {
        const int64_t middle = (x_of(chart, i) + x_of(chart, i + 1)) / 2;
        if (labels[i] != NULL) {
            x_label(chart, middle, i % 2 != 0, labels[i]);
        }
    }
}

void chart_end(struct chart *chart)
{
    const bool live = chart->values.len > 0;
    if (live) {
        buf_addf(chart->out, "<line class=\"cursor\" y1=\"%d\" y2=\"%" PRId64 "\"/>", TOP,
                 TOP + plot_height(chart));
    }
    buf_add_str(chart->out, "</svg>");
    if (live) {
        json_out_end(&chart->json);
        json_out_end(&chart->json);
        buf_add_str(chart->out, "<data value=\"");
        chart_html_text(chart->out, buf_text(&chart->values));
        buf_add_str(chart->out, "\"></data>");
    }
    buf_add_str(chart->out, "</figure>\n");
    buf_done(&chart->values);
}

/* ---- lines and bars ---- */

static void values(struct chart *chart, const struct chart_series *series, bool heights)
{
    struct json_out *j = &chart->json;
    if (series->name == NULL) {
        return;
    }
    json_out_object(j);
    json_out_kv_text(j, "name", series->name);
    json_out_kv_text(j, "key", series->key);
    json_out_key(j, "values");
    json_out_array(j);
    for (size_t i = 0; i < series->count; i++) {
        const int64_t value = series->points[i].y - (heights ? series->points[i].low : 0);
        json_out_milli(j, value * 1000 / chart->axes.y_unit);
    }
    json_out_end(j);
    json_out_end(j);
}

static void upper_edge(const struct chart *chart, const struct chart_series *series)
{
    const struct chart_point *points = series->points;
    for (size_t i = 0; i < series->count; i++) {
        if (i > 0) {
            point(chart->out, x_of(chart, points[i].x), y_of(chart, points[i - 1].y));
        }
        point(chart->out, x_of(chart, points[i].x), y_of(chart, points[i].y));
    }
    if (series->count > 0) {
        point(chart->out, x_of(chart, chart->axes.x_max), y_of(chart, points[series->count - 1].y));
    }
}

void chart_line(struct chart *chart, const struct chart_series *series)
{
    buf_addf(chart->out, "<polyline class=\"line %s\" points=\"", series->class_name);
    upper_edge(chart, series);
    buf_add_str(chart->out, "\"/>");
    values(chart, series, false);
}

void chart_area(struct chart *chart, const struct chart_series *series)
{
    const struct chart_point *points = series->points;
    buf_addf(chart->out, "<polygon class=\"area %s\" points=\"", series->class_name);
    upper_edge(chart, series);
    if (series->count > 0) {
        point(chart->out, x_of(chart, chart->axes.x_max),
              y_of(chart, points[series->count - 1].low));
    }
    for (size_t i = series->count; i > 0; i--) {
        point(chart->out, x_of(chart, points[i - 1].x), y_of(chart, points[i - 1].low));
        if (i > 1) {
            point(chart->out, x_of(chart, points[i - 1].x), y_of(chart, points[i - 2].low));
        }
    }
    buf_add_str(chart->out, "\"/>");
    values(chart, series, true);
}

void chart_bar(const struct chart *chart, size_t index, int64_t y, const char *text,
               const char *title)
{
    must((int64_t)index < chart->axes.x_max);
    struct buf *out = chart->out;
    const int64_t left = x_of(chart, (int64_t)index);
    const int64_t right = x_of(chart, (int64_t)index + 1);
    const int64_t gap = (right - left) / 8;
    buf_add_str(out, "<g><title>");
    chart_html_text(out, title);
    buf_add_str(out, "</title><rect class=\"bar c0\" rx=\"2\" x=\"");
    tenths(out, left + gap);
    buf_add_str(out, "\" y=\"");
    tenths(out, y_of(chart, y));
    buf_add_str(out, "\" width=\"");
    tenths(out, right - left - 2 * gap);
    buf_add_str(out, "\" height=\"");
    tenths(out, y_of(chart, 0) - y_of(chart, y));
    buf_add_str(out, "\"/>");
    text_at(out, "tick value", "middle", (left + right) / 2, y_of(chart, y) - 40);
    chart_html_text(out, text);
    buf_add_str(out, "</text></g>");
}
