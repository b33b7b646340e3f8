/* summary_internal.h - shared by the parts of the page for people.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/buf.h"
#include "sim/metrics.h"

enum { SUMMARY_CELL_WIDTH = 8 };

/* Allocation, pieces and queue in a few slices of the run; nothing where it has too few samples. `width`: of the first column. */
void summary_time(const struct result *result, const struct series *series, int width,
                  struct buf *out);
