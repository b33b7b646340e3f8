/* chart.h - charts as SVG: axes with round numbers and units, lines, areas, bars. Colours are classes (c0, c1
 * …), given by the page's style sheet, so that one drawing serves light and dark. A chart over time carries its numbers, for the page's
 * script to show under the pointer.
 *
 * All positions are integers, in tenths of a pixel. SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/buf.h"
#include "base/json_out.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CHART_COLOURS = 8 };

/* One across the page, or one of several side by side. */
enum chart_size { CHART_WIDE, CHART_SMALL };

struct chart_axes {
    enum chart_size size;
    const char *label; /* for who cannot see it */
    const char *unit;  /* of the y axis: "slots" */
    int64_t x_max;     /* milliseconds, or the number of bars */
    int64_t y_max;     /* rounded up to a round number */
    int64_t y_unit;    /* what the numbers on the axis are divided by */
    int64_t step_ms;   /* between two points of a chart over time */
};

struct chart {
    struct buf *out;
    struct chart_axes axes;
    int64_t width;
    int64_t height;
    struct buf values; /* of the series, as JSON */
    struct json_out json;
};

/* A chart over time: x from 0 to x_max milliseconds, y from 0 to at least y_max. */
void chart_begin_time(struct chart *chart, struct buf *out, const struct chart_axes *axes);

/* A chart of x_max bars with a label each, none where it is NULL. */
void chart_begin_bars(struct chart *chart, struct buf *out, const struct chart_axes *axes,
                      const char *const *labels);

void chart_end(struct chart *chart);

struct chart_point {
    int64_t x;
    int64_t low; /* of an area */
    int64_t y;
};

/* What is drawn: where it is, how it looks, what it is called under the pointer. */
struct chart_series {
    const struct chart_point *points;
    size_t count;
    const char *class_name;
    const char *key;  /* the class of its sign in the legend */
    const char *name; /* NULL: not shown there */
};

/* Steps through the points: a value holds until the next one, the last to the end. An area's value is its height. */
void chart_line(struct chart *chart, const struct chart_series *series);
void chart_area(struct chart *chart, const struct chart_series *series);

/* Bar `index`, `y` high, with a text above it and one shown when it is pointed at. */
void chart_bar(const struct chart *chart, size_t index, int64_t y, const char *text,
               const char *title);

/* "0", "30m", "1d12h": a round time. */
const char *chart_time_text(int64_t ms, char *out, size_t size);

/* Text for HTML and SVG. */
void chart_html_text(struct buf *out, const char *text);
