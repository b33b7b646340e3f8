/* report_internal.h - what the files of a report share.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/buf.h"
#include "sim/metrics.h"

/* The run of a report, and the buffer for the page. */
struct report_page {
    const struct result *result;
    const struct engine *engine;
    const struct series *series;
    struct buf *out;
};

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

/* Tables of pools, and of waits and completion times by size and account. */
void report_tables(const struct report_page *report);

/* Shows what each account used, beside its fair share and its guarantee. */
void report_share(const struct report_page *report);

/* Shows when guarantees were not met: a strip of time for each account, and the figures. */
void report_promise_table(const struct report_page *report);
