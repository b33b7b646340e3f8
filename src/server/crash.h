/* crash.h - named points at which a crash test may end the server, as kill -9 would.
 *
 * With WEIR_CRASH_AT=POINT:N in the environment, the process kills itself the N-th time that the
 * point is passed. Without the variable a point costs a comparison. tests/e2e/test_crash.py uses
 * these points:
 *
 *   decide-before-commit    a submission is applied in memory, nothing of it is on disk
 *   commit-before-answer    a submission is on disk, its client has no answer yet
 *   commit-before-order     an allocation is on disk, its node has no order yet
 *   order-before-wire       the order is written for the node, not yet sent
 *
 * and tests/e2e/test_provider_crash.py uses these:
 *
 *   provider-order                         a launch or an end is on disk, its provider has no order yet
 *   provider-launch, provider-launched     before and after the order to the provider
 *   provider-terminate, -terminated        likewise, for the end of a machine
 *   provider-said                          the provider has answered, the core does not know
 *   provider-told                          the core knows, nothing of it is on disk
 *
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "server/batch.h"

void crash_point(const char *name);

/* Only batches that carry a submission pass this point. */
void crash_point_submit(const char *name, const struct batch *batch);

/* Only batches that carry an order for a node pass this point. */
void crash_point_order(const char *name, const struct batch *batch);
