/* reason_text.h - reasons as every surface shows them: one sentence, and the JSON object around it.
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

/* An amount with its resource: "5 foo", "1 slot", "64Gi of memory". Appended to `out`. */
void reason_text_amount(const struct core *core, resource_id resource, int64_t amount,
                        struct buf *out);

/* The amount without the resource's name. */
void reason_text_amount_bare(resource_id resource, int64_t amount, struct buf *out);

/* An amount as a JSON number: bytes of memory, else decimal. */
void reason_text_amount_json(struct json_out *j, resource_id resource, int64_t amount);
