/* grow.h - how many nodes a pool asks its provider for, at the end of a pass.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/model/input.h"
#include "core/sched/place/trial.h"
#include "core/state/fact.h"

#include <stdint.h>

/* Asks for the nodes that the pool lacks: for tasks that found no place, for the minimum, for the headroom. `trial` is
 * the pass that found no more places. Returns the moment of the next look; 0: a change of the pool comes first. */
int64_t grow_decide(struct trial *trial, const struct input *in, struct facts *out);
