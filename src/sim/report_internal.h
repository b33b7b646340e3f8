/* report_internal.h - the pieces of a report: shared by its files.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/buf.h"
#include "sim/metrics.h"

/* What a report is about, and where it goes. */
struct report_page {
    const struct result *result;
    const struct engine *engine;
    const struct series *series;
    struct buf *out;
};

/* Opens a section with a heading and a line of text. */
void report_section(struct buf *out, const char *title, const char *text);

/* An entry of a legend. */
void report_key(struct buf *out, const char *class_name, const char *text);

/* Were slots promised to anybody of several? */
bool report_promise_any(const struct result *result);

/* Charts: slots of each pool, the queue, and how long tasks waited. */
void report_charts_allocation(const struct report_page *report);
void report_charts_queue(const struct report_page *report);
void report_charts_waits(const struct report_page *report);

/* Figures of pools, and waits and completion times by size and account. */
void report_tables(const struct report_page *report);

/* What each account used, beside its fair share and its guarantee. */
void report_share(const struct report_page *report);

/* What was promised and when it was not there: a strip of time for each account, and the figures. */
void report_promise_table(const struct report_page *report);
