/* node_json.h - nodes as in docs/api/objects.md.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/arena.h"
#include "base/json_out.h"
#include "core/core.h"

enum { NODE_JSON_TASKS_MAX = 1000 };

/* Writes a node. `tasks` are the attempts on the node, at most NODE_JSON_TASKS_MAX. */
void node_json(struct json_out *j, const struct core *core, const struct node *node,
               struct arena *arena);
