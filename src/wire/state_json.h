/* state_json.h - the whole state as JSON, for `weir state export` and the simulator.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/buf.h"
#include "core/core.h"

enum { STATE_JSON_VERSION = 1 };

/* {"version":1,"seq","time","pools":[],"nodes":[],"tasks":[]} as of `now_ms`. Cost and size grow with the state:
 * give it a copy on a worker. Environments are left out: they may hold secrets. */
void state_json(const struct core *core, int64_t now_ms, struct buf *out);
