/* reason_text.h - reasons as every surface shows them: one sentence, the JSON object around it, and
 * what a person may do about it.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/arena.h"
#include "base/buf.h"
#include "base/fail.h"
#include "base/json_out.h"
#include "core/core.h"
#include "core/sched/explain/explain.h"

/* The sentence, without a full stop; empty for REASON_NONE. Appended to `out`. */
void reason_text(const struct core *core, const struct reason *reason, struct buf *out);

/* {"code","message","resource",…}; null for REASON_NONE. */
void reason_text_json(struct json_out *j, const struct core *core, const struct reason *reason);

/* Does `resource` with wanted and available mean something for this code? */
bool reason_text_has_amount(enum reason_code code);

/* Which kind of failure a refusal is: ERR_NEVER, ERR_NOT_FOUND, ERR_CONFLICT, ERR_INVALID or
 * ERR_LIMIT. */
enum err reason_help_err(enum reason_code code);

/* "resources.foo", "pools", "": the field of a submission that the refusal is about. */
const char *reason_help_path(const struct core *core, const struct reason *reason,
                             struct arena *arena);

/* An amount with its resource: "5 foo", "1 slot", "64Gi of memory". Appended to `out`. */
void reason_text_amount(const struct core *core, resource_id resource, int64_t amount,
                        struct buf *out);

/* The amount without the resource's name. */
void reason_text_amount_bare(resource_id resource, int64_t amount, struct buf *out);

/* An amount as a JSON number: bytes of memory, else decimal. */
void reason_text_amount_json(struct json_out *j, resource_id resource, int64_t amount);

enum { SUGGESTIONS_MAX = 4 };

/* What would help this task: commands, most helpful first, in the arena. Returns how many. */
uint32_t reason_help_suggestions(const struct core *core, task_id id, const struct explanation *why,
                                 struct arena *arena, const char *ret[SUGGESTIONS_MAX]);
