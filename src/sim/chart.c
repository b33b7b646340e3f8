/* chart.c - see chart.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "sim/chart.h"

#include "base/must.h"
#include "base/time_text.h"

#include <inttypes.h>

enum {
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
} sizes[] = {[CHART_WIDE] = {900, 210}, [CHART_SMALL] = {420, 136}};

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

/* ---- positions, in tenths of a unit of the drawing ---- */

static int64_t scaled(int64_t value, int64_t max, int64_t pixels)
{
    return max <= 0 ? 0 : (int64_t)((__int128)value * pixels * 10 / max);
}

static int64_t x_of(const struct chart *chart, int64_t x)
{
    return scaled(x, chart->axes.x_max, chart->width);
}

static int64_t y_of(const struct chart *chart, int64_t y)
{
    return chart->height * 10 - scaled(y, chart->axes.y_max, chart->height);
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

/* Returns tenths of a unit of the drawing as tenths of a percent. */
static int64_t permille(int64_t position, int64_t pixels)
{
    return position * 100 / pixels;
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

static void y_lines(const struct chart *chart)
{
    for (int64_t i = 0; i <= Y_TICKS; i++) {
        const int64_t y = y_of(chart, chart->axes.y_max * i / Y_TICKS);
        buf_addf(chart->out, "<line class=\"grid\" x1=\"0\" x2=\"%" PRId64 "\" y1=\"",
                 chart->width);
        tenths(chart->out, y);
        buf_add_str(chart->out, "\" y2=\"");
        tenths(chart->out, y);
        buf_add_str(chart->out, "\"/>");
    }
}

/* Writes the numbers beside the grid, the lowest first, and the unit above them. */
static void y_labels(const struct chart *chart)
{
    struct buf *out = chart->out;
    buf_add_str(out, "<span class=\"unit\">");
    chart_html_text(out, chart->axes.unit);
    buf_add_str(out, "</span><div class=\"ys\">");
    for (int64_t i = 0; i <= Y_TICKS; i++) {
        const int64_t value = chart->axes.y_max * i / Y_TICKS;
        const int64_t hundredths = value * 100 / chart->axes.y_unit;
        buf_addf(out, "<span>%" PRId64, hundredths / 100);
        if (hundredths % 100 != 0) {
            buf_addf(out, ".%02" PRId64, hundredths % 100);
        }
        buf_add_str(out, "</span>");
    }
    buf_add_str(out, "</div>");
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

/* Writes "1 Oct", "06:00" for a part of a day, or "Oct 2017" where ticks are far apart. */
static const char *date_text(int64_t ms, int64_t step_ms, char *out, size_t size)
{
    static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
    char text[TIME_TEXT_MAX];
    time_text(ms, text);
    const int month = (text[5] - '0') * 10 + (text[6] - '0') - 1;
    const int day = (text[8] - '0') * 10 + (text[9] - '0');
    must(month >= 0);
    must(month < 12);
    if (ms % DAY_MS != 0) {
        (void)snprintf(out, size, "%.5s", text + 11);
    } else if (step_ms >= 84 * DAY_MS) {
        (void)snprintf(out, size, "%.3s %.4s", months + (ptrdiff_t)3 * month, text);
    } else {
        (void)snprintf(out, size, "%d %.3s", day, months + (ptrdiff_t)3 * month);
    }
    return out;
}

/* Writes a label below the x axis. A narrow page hides every second label. The first and
 * the last time do not stand out over the ends. */
static void x_label(const struct chart *chart, int64_t x, bool odd, const char *text)
{
    enum { NEAR_START = 30, NEAR_END = 970 };
    const int64_t at = permille(x, chart->width);
    buf_addf(chart->out, "<span class=\"%s%s\" style=\"left:", odd ? "odd" : "even",
             chart->labels != NULL ? ""
                                   : (at < NEAR_START ? " start" : (at > NEAR_END ? " end" : "")));
    tenths(chart->out, at);
    buf_add_str(chart->out, "%\">");
    chart_html_text(chart->out, text);
    buf_add_str(chart->out, "</span>");
}

/* The times of a trace with dates begin at any moment. Ticks are at round dates. */
static void time_labels(const struct chart *chart)
{
    const int64_t most = chart->axes.size == CHART_WIDE ? X_TICKS_MAX : X_TICKS_MAX_SMALL;
    const int64_t begins_ms = chart->axes.begins_ms;
    size_t step = 0;
    while (step + 1 < TIME_STEP_COUNT && chart->axes.x_max / time_steps[step] > most) {
        step++;
    }
    const int64_t step_ms = time_steps[step];
    const int64_t past_ms = begins_ms % step_ms;
    int64_t index = 0;
    for (int64_t at = past_ms == 0 ? 0 : step_ms - past_ms; at <= chart->axes.x_max;
         at += step_ms, index++) {
        char text[32];
        x_label(chart, x_of(chart, at), index % 2 != 0,
                begins_ms > 0 ? date_text(begins_ms + at, step_ms, text, sizeof text)
                              : chart_time_text(at, text, sizeof text));
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
    buf_init(&chart->above, VALUES_BYTES_MAX);
    json_out_init(&chart->json, &chart->values);
    buf_addf(out, "<figure class=\"%s%s\">", axes->size == CHART_WIDE ? "wide" : "narrow",
             live ? " live" : "");
    y_labels(chart);
    buf_addf(out,
             "<div class=\"plot\"><svg viewBox=\"0 0 %" PRId64 " %" PRId64
             "\" preserveAspectRatio=\"none\" role=\"img\" aria-label=\"",
             chart->width, chart->height);
    chart_html_text(out, axes->label);
    buf_add_str(out, "\">");
    y_lines(chart);
}

void chart_begin_time(struct chart *chart, struct buf *out, const struct chart_axes *axes)
{
    begin(chart, out, axes, true);
    struct json_out *j = &chart->json;
    json_out_object(j);
    json_out_kv_milli(j, "max", chart->axes.x_max);
    json_out_kv_milli(j, "begins", chart->axes.begins_ms);
    json_out_kv_milli(j, "step", axes->step_ms);
    json_out_kv_text(j, "unit", axes->unit);
    json_out_key(j, "series");
    json_out_array(j);
}

void chart_begin_bars(struct chart *chart, struct buf *out, const struct chart_axes *axes,
                      const char *const *labels)
{
    begin(chart, out, axes, false);
    chart->labels = labels;
}

static void bar_labels(const struct chart *chart)
{
    for (int64_t i = 0; i < chart->axes.x_max; i++) {
        const int64_t middle = (x_of(chart, i) + x_of(chart, i + 1)) / 2;
        if (chart->labels[i] != NULL) {
            x_label(chart, middle, i % 2 != 0, chart->labels[i]);
        }
    }
}

void chart_end(struct chart *chart)
{
    struct buf *out = chart->out;
    const bool live = chart->labels == NULL;
    if (live) {
        buf_addf(out, "<line class=\"cursor\" y1=\"0\" y2=\"%" PRId64 "\"/>", chart->height);
    }
    buf_add_str(out, "</svg>");
    buf_add_str(out, buf_text(&chart->above));
    buf_add_str(out, "</div><div class=\"xs\">");
    if (live) {
        time_labels(chart);
    } else {
        bar_labels(chart);
    }
    buf_add_str(out, "</div>");
    if (live) {
        json_out_end(&chart->json);
        json_out_end(&chart->json);
        buf_add_str(out, "<data value=\"");
        chart_html_text(out, buf_text(&chart->values));
        buf_add_str(out, "\"></data>");
    }
    buf_add_str(out, "</figure>\n");
    buf_done(&chart->values);
    buf_done(&chart->above);
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

void chart_values(struct chart *chart, const struct chart_series *series)
{
    values(chart, series, false);
}

void chart_bar(struct chart *chart, size_t index, int64_t y, const char *text, const char *title)
{
    must((int64_t)index < chart->axes.x_max);
    struct buf *out = chart->out;
    const int64_t left = x_of(chart, (int64_t)index);
    const int64_t right = x_of(chart, (int64_t)index + 1);
    const int64_t gap = (right - left) / 8;
    buf_add_str(out, "<g><title>");
    chart_html_text(out, title);
    buf_add_str(out, "</title><rect class=\"bar c0\" x=\"");
    tenths(out, left + gap);
    buf_add_str(out, "\" y=\"");
    tenths(out, y_of(chart, y));
    buf_add_str(out, "\" width=\"");
    tenths(out, right - left - 2 * gap);
    buf_add_str(out, "\" height=\"");
    tenths(out, y_of(chart, 0) - y_of(chart, y));
    buf_add_str(out, "\"/></g>");
    buf_add_str(&chart->above, "<span class=\"value\" style=\"left:");
    tenths(&chart->above, permille((left + right) / 2, chart->width));
    buf_add_str(&chart->above, "%;bottom:");
    tenths(&chart->above, permille(y_of(chart, 0) - y_of(chart, y), chart->height));
    buf_add_str(&chart->above, "%\">");
    chart_html_text(&chart->above, text);
    buf_add_str(&chart->above, "</span>");
}
