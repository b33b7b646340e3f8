/* summary.h - the result of a run as text, JSON and CSV.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/buf.h"
#include "sim/metrics.h"

/* Writes a summary for people. */
void summary_text(const struct result *result, const struct scenario *scenario,
                  const struct series *series, struct buf *out);

/* Writes one JSON object (docs/dev/formats/sim-output.md), samples included. */
void summary_json(const struct result *result, const struct engine *engine,
                  const struct series *series, struct buf *out);

/* Writes a header, and one line for each submitted task. Times are in seconds. */
void summary_json_tasks_csv(const struct engine *engine, struct buf *out);
