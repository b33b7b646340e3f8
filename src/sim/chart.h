/* chart.h - charts as SVG: axes with round numbers and units, lines, areas, bars.
 *
 * Colours are classes (c0, c1 …) of the page's style sheet, so that one drawing serves light and
 * dark pages. A chart over time carries its numbers, and the page's script shows them under the
 * pointer. The drawing is as wide as its place, whatever that is; texts stand beside the drawing as HTML
 * and keep their size. All positions are integers, in tenths of a unit of the drawing.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/buf.h"
#include "base/json_out.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CHART_COLOURS = 8 };

/* A chart is as wide as the page, or small with others beside it. */
enum chart_size { CHART_WIDE, CHART_SMALL };

struct chart_axes {
    enum chart_size size;
    const char *label; /* text for people who cannot see the chart */
    const char *unit;  /* of the y axis: "slots" */
    int64_t x_max;     /* milliseconds, or the number of bars */
    int64_t y_max;     /* becomes the next round number */
    int64_t y_unit;    /* numbers on the axis are divided by this */
    int64_t step_ms;   /* time between two points of a chart over time */
    int64_t begins_ms; /* the moment since 1970 at x = 0; 0: times have no dates */
};

struct chart {
    struct buf *out;
    struct chart_axes axes;
    int64_t width;
    int64_t height;
    struct buf values;         /* values of all series, as JSON */
    struct buf above;          /* texts over the drawing */
    const char *const *labels; /* of the bars; NULL: a chart over time */
    struct json_out json;
};

/* Begins a chart over time: x from 0 to x_max milliseconds, y from 0 to at least y_max. */
void chart_begin_time(struct chart *chart, struct buf *out, const struct chart_axes *axes);

/* Begins a chart of x_max bars. A label that is NULL is left out. */
void chart_begin_bars(struct chart *chart, struct buf *out, const struct chart_axes *axes,
                      const char *const *labels);

void chart_end(struct chart *chart);

struct chart_point {
    int64_t x;
    int64_t low; /* lower edge of an area */
    int64_t y;
};

/* One line or area of a chart. */
struct chart_series {
    const struct chart_point *points;
    size_t count;
    const char *class_name;
    const char *key;  /* class of the sign in the legend */
    const char *name; /* name under the pointer; NULL: not shown there */
};

/* Draws steps: a value holds until the next point, the last value until the end. The value of an
 * area is its height. */
void chart_line(struct chart *chart, const struct chart_series *series);
void chart_area(struct chart *chart, const struct chart_series *series);

/* Adds values that only the pointer shows. */
void chart_values(struct chart *chart, const struct chart_series *series);

/* Draws bar number `index` of height `y`, with a text above the bar and a text that the pointer
 * shows. */
void chart_bar(struct chart *chart, size_t index, int64_t y, const char *text, const char *title);

/* Writes a round time: "0", "30m", "1d12h". */
const char *chart_time_text(int64_t ms, char *out, size_t size);

/* Appends text, escaped for HTML and SVG. */
void chart_html_text(struct buf *out, const char *text);
