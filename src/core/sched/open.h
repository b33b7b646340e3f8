/* open.h - where else tasks find a place that a pass did not find: nodes that the pool asks for, and further pools.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/model/input.h"
#include "core/state/fact.h"
#include "core/sched/place/trial.h"

/* The pass over the pool found no more places. Asks for nodes (grow.h). If the pool asks for none, opens the next pool of each
 * task for which this pool has no capacity, at most OPEN_MAX tasks at a time. Returns the moment of the next look, as grow_decide(). */
enum { OPEN_MAX = 1024 };
int64_t open_decide(struct trial *trial, const struct input *in, struct facts *out);
