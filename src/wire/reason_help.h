/* reason_help.h - which failure a refusal is, and what a person may do about a wait.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/arena.h"
#include "base/fail.h"
#include "core/core.h"
#include "core/sched/explain/explain.h"

/* Returns ERR_NEVER, ERR_NOT_FOUND, ERR_CONFLICT, ERR_INVALID or ERR_LIMIT for a refusal. */
enum err reason_help_err(enum reason_code code);

/* Returns the field of a submission that the refusal is about: "resources.foo", "pools"; "":
 * none. */
const char *reason_help_path(const struct core *core, const struct reason *reason,
                             struct arena *arena);

enum { SUGGESTIONS_MAX = 4 };

/* Lists commands that would help this task, the most helpful first, in the arena. Returns how
 * many. */
uint32_t reason_help_suggestions(const struct core *core, task_id id, const struct explanation *why,
                                 struct arena *arena, const char *ret[SUGGESTIONS_MAX]);
