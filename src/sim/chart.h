/* chart.h - charts as SVG: axes with round numbers, lines, areas, bars. Colours are classes (c0, c1
 * …), given by the page's style sheet, so that one drawing serves light and dark.
 *
 * All positions are integers, in tenths of a pixel. SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/buf.h"

#include <stddef.h>
#include <stdint.h>

enum { CHART_WIDTH = 860, CHART_HEIGHT = 260, CHART_COLOURS = 8 };

struct chart {
    struct buf *out;
    int64_t x_max;
    int64_t y_max;  /* after rounding up to a round number */
    int64_t y_unit; /* what the numbers on the axis are divided by */
};

/* A chart over time: x from 0 to x_max milliseconds, y from 0 to at least y_max. */
void chart_begin_time(struct chart *chart, struct buf *out, int64_t x_max, int64_t y_max,
                      int64_t y_unit);

/* A chart of `count` bars with a label each, none where it is NULL. */
void chart_begin_bars(struct chart *chart, struct buf *out, const char *const *labels, size_t count,
                      int64_t y_max, int64_t y_unit);

void chart_end(struct chart *chart);

struct chart_point {
    int64_t x;
    int64_t low; /* of an area */
    int64_t y;
};

/* Steps through the points: a value holds until the next one. */
void chart_line(const struct chart *chart, const struct chart_point *points, size_t count,
                const char *class_name);
void chart_area(const struct chart *chart, const struct chart_point *points, size_t count,
                const char *class_name);

/* Bar `index` of `count`, `y` high, with a text shown when it is pointed at. */
void chart_bar(const struct chart *chart, size_t index, size_t count, int64_t y,
               const char *class_name, const char *title);

/* Text for HTML and SVG. */
void html_text(struct buf *out, const char *text);
