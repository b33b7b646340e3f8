/* crash.h - named points at which a crash test may end the server, as kill -9 would.
 *
 * With WEIR_CRASH_AT=POINT:N in the environment, the process kills itself the N-th time that the
 * point is passed. Without the variable a point costs a comparison. tests/e2e/test_crash.py uses
 * every point:
 *
 *   decide-before-commit    a submission is applied in memory, nothing of it is on disk
 *   commit-before-answer    a submission is on disk, its client has no answer yet
 *   commit-before-order     an allocation is on disk, its node has no order yet
 *   order-before-wire       the order is written for the node, not yet sent
 *
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "server/batch.h"

void crash_point(const char *name);

/* Only batches that carry a submission pass this point. */
void crash_point_submit(const char *name, const struct batch *batch);

/* Only batches that carry an order for a node pass this point. */
void crash_point_order(const char *name, const struct batch *batch);
