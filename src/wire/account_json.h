/* account_json.h - departments and projects as in docs/api/objects.md.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/arena.h"
#include "base/json_out.h"
#include "core/core.h"

/* Writes a department or a project. */
void account_json(struct json_out *j, const struct core *core, const struct account *account,
                  struct arena *arena);

/* Writes the parent of an account: the department of a project, or the department above a
 * department. At the top the parent is null. */
void account_json_parent(struct json_out *j, const struct core *core,
                         const struct account *account);
