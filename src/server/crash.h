/* crash.h - named points at which a crash test may end the server, as kill -9 would.
 *
 * WEIR_CRASH_AT=POINT:N in the environment: the N-th time that point is passed the process kills itself. Without it a point
 * costs a comparison. The points (tests/e2e/test_crash.py plants them all):
 *   decide-before-commit    a submission is applied in memory, nothing of it is on disk
 *   commit-before-answer    a submission is on disk, its client has heard nothing
 *   commit-before-order     an allocation is on disk, its node has heard nothing
 *   order-before-wire       the order is written for the node, not yet sent
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "server/batch.h"

void crash_point(const char *name);

/* Passed only by batches that carry a submission. */
void crash_point_submit(const char *name, const struct batch *batch);

/* Passed only by batches that carry an order for a node. */
void crash_point_order(const char *name, const struct batch *batch);
