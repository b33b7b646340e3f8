/* state_json.h - the whole state as JSON, for `weir state export` and the simulator.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/buf.h"
#include "core/core.h"

enum { STATE_JSON_VERSION = 1 };

/* {"version":1,"seq","time","pools":[],"nodes":[],"tasks":[]}. Cost and size grow with the state:
 * give it a copy on a worker. Environments are left out: they may hold secrets. */
void state_json(const struct core *core, struct buf *out);
