/* reason_text.h - reasons as API, CLI and UI show them: one sentence, and the JSON object around
 * the sentence.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/arena.h"
#include "base/buf.h"
#include "base/fail.h"
#include "base/json_out.h"
#include "core/core.h"
#include "core/sched/explain/explain.h"

enum { REASON_TEXT_MAX = 1024 }; /* the most bytes of a sentence */

/* Appends the sentence to `out`, without a full stop; nothing for REASON_NONE. */
void reason_text(const struct core *core, const struct reason *reason, struct buf *out);

/* Appends a sentence with {words}, which word_add() in reason_text.c replaces by members of the
 * reason. */
void reason_text_fill(const struct core *core, const struct reason *reason, const char *sentence,
                      struct buf *out);

/* Writes {"code","message","resource",…}; null for REASON_NONE. */
void reason_text_json(struct json_out *j, const struct core *core, const struct reason *reason);

/* True when a reason with this code has a resource with amounts wanted and available. */
bool reason_text_has_amount(enum reason_code code);

/* Returns ERR_NEVER, ERR_NOT_FOUND, ERR_CONFLICT, ERR_INVALID or ERR_LIMIT for a refusal. */
enum err reason_text_err(enum reason_code code);

/* Returns the field of a submission that the refusal is about: "resources.foo", "pools"; "":
 * none. */
const char *reason_text_path(const struct core *core, const struct reason *reason,
                             struct arena *arena);

/* Returns the name of the resource that the reason is about. */
const char *reason_text_resource(const struct core *core, const struct reason *reason);

/* Appends an amount with its resource: "5 foo", "1 slot", "64Gi of memory". */
void reason_text_amount(const struct core *core, resource_id resource, int64_t amount,
                        struct buf *out);

/* Appends an amount without the name of its resource. */
void reason_text_amount_bare(resource_id resource, int64_t amount, struct buf *out);
