/* account_json.h - departments and projects as docs/api/objects.md has them.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/arena.h"
#include "base/json_out.h"
#include "core/core.h"

/* A department or a project. */
void account_json(struct json_out *j, const struct core *core, const struct account *account,
                  struct arena *arena);

/* The department a project is in, or the one above a department: null at the top. */
void account_json_parent(struct json_out *j, const struct core *core,
                         const struct account *account);
