/* start_order.h - the start order of an attempt, out of the state.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/arena.h"
#include "core/core.h"
#include "wire/agent.h"

/* Fills the order for an EFFECT_START. Texts are borrowed from the state and the arena. False:
 * the attempt is over or the task is gone, and nothing must be ordered. */
bool start_order_fill(const struct core *core, const struct effect *effect, struct arena *arena,
                      struct agent_order *ret);
