/* state_json.h - the whole state as JSON, for `weir state export` and the simulator.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/buf.h"
#include "core/core.h"

enum { STATE_JSON_VERSION = 1 };

/* Writes {"version":1,"seq","time","pools":[],"nodes":[],"tasks":[]} as of `now_ms`.
 * Environments are left out, because they may hold secrets. Cost and size grow with the state:
 * call this on a work thread with a copy of the state. */
void state_json(const struct core *core, int64_t now_ms, struct buf *out);
