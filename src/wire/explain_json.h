/* explain_json.h - why a task waits, as in docs/api/objects.md.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/arena.h"
#include "base/json_out.h"
#include "core/core.h"

/* Writes the answer to GET /tasks/{id}/explain. */
void explain_json(struct json_out *j, const struct core *core, const struct task *task,
                  struct arena *arena);
