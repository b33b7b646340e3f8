/* explain_json.h - why a task waits, as docs/api/objects.md has it.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/arena.h"
#include "base/json_out.h"
#include "core/core.h"

/* The answer to GET /tasks/{id}/explain. */
void explain_json(struct json_out *j, const struct core *core, const struct task *task,
                  struct arena *arena);
