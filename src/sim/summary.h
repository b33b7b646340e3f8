/* summary.h - the result of a run as text, JSON and CSV.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/buf.h"
#include "sim/metrics.h"

/* A page for people. */
void summary_text(const struct result *result, const struct scenario *scenario,
                  const struct series *series, struct buf *out);

/* One JSON object (docs/dev/formats/sim-output.md), with the samples. */
void summary_json(const struct result *result, const struct engine *engine,
                  const struct series *series, struct buf *out);

/* One line per submitted task, a header first. Times in seconds. */
void summary_json_tasks_csv(const struct engine *engine, struct buf *out);
