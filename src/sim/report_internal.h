/* report_internal.h - the pieces of a report: shared by report.c and report_promise.c.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/buf.h"
#include "sim/metrics.h"

/* Opens a section with a heading and a line of text. */
void report_section(struct buf *out, const char *title, const char *text);

/* An entry of a legend. */
void report_key(struct buf *out, const char *class_name, const char *text);

/* Were slots promised to anybody of several? */
bool report_promised(const struct result *result);

/* What was promised and when it was not there: a strip of time for each account, and the figures. */
void report_promises(const struct result *result, const struct engine *engine,
                     const struct series *series, struct buf *out);
