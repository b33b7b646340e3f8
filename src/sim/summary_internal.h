/* summary_internal.h - what the files of the summary for people share.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/buf.h"
#include "sim/metrics.h"

enum { SUMMARY_CELL_WIDTH = 8 };

/* Writes allocation, fragmentation and queue in a few slices of the run; nothing if there are
 * too few samples. `width` is that of the first column. */
void summary_time(const struct result *result, const struct series *series, int width,
                  struct buf *out);
