/* report_internal.h - what the files of a report share.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/buf.h"
#include "sim/chart.h"
#include "sim/metrics.h"

/* The run of a report, and the buffer for the page. */
struct report_page {
    const struct result *result;
    const struct engine *engine;
    const struct series *series;
    struct buf *out;
};

/* Writes everything before the first figure, and everything after the last section. `about` is a
 * text behind the version; NULL: none. */
void report_page_begin(struct buf *out, const char *title);
void report_page_end(struct buf *out, const char *about);

/* Writes a figure on top of the page. */
void report_card(struct buf *out, const char *value, const char *label, const char *note);

/* Returns the axes of a chart over the time of the run, with a point for each sample. */
struct chart_axes report_axes(const struct report_page *report, const char *label,
                              const char *unit);

/* Opens a section with a heading and a line of text. */
void report_section(struct buf *out, const char *title, const char *text);

/* Writes an entry of a legend. */
void report_key(struct buf *out, const char *class_name, const char *text);

/* True when at least one of several accounts has guaranteed slots. */
bool report_promise_any(const struct result *result);

/* Charts: slots of each pool, the queue, and the waits of tasks. */
void report_charts_allocation(const struct report_page *report);
void report_charts_queue(const struct report_page *report);
void report_charts_waits(const struct report_page *report);

/* Waits and slowdown by the time of submission. */
void report_time(const struct report_page *report);

/* The settings of every pool. */
void report_settings(const struct report_page *report);

/* Tables of pools, and of waits and completion times by size and account. */
void report_tables(const struct report_page *report);

/* Shows what each account used, beside its fair share and its guarantee. */
void report_share(const struct report_page *report);

/* Shows when guarantees were not met: a strip of time for each account, and the figures. */
void report_promise_table(const struct report_page *report);
