/* report.h - the result of a run as one HTML page without other files: figures, charts, tables;
 * light and dark.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/buf.h"
#include "sim/compare.h"
#include "sim/metrics.h"

void report_html(const struct result *result, const struct engine *engine,
                 const struct series *series, struct buf *out);

/* Writes a comparison as such a page. */
void report_compare(const struct compare *compare, struct buf *out);
