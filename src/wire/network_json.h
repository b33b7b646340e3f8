/* network_json.h - a network and who uses it. SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/arena.h"
#include "base/json_out.h"
#include "core/core.h"

/* Writes a network: its fields, the pools that have it, and how many pools and tasks name it. */
void network_json(struct json_out *j, const struct core *core, const struct network *network,
                  struct arena *arena);
