/* error_json.h - {"error":{"code","message","path"}}: the body of every failure and refusal.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/arena.h"
#include "base/buf.h"
#include "base/fail.h"
#include "core/core.h"

/* Writes a failure. */
void error_json(const struct error *e, struct buf *out);

/* Writes a failure with a code that fail_code_name() does not have, such as "stale" or
 * "protocol". */
void error_json_code(const char *code, const char *message, struct buf *out);

/* Writes a refusal of core_decide(): the code of reason_text_err() (or "key-reused"), the
 * sentence, the field and `"reason":{…}`. With `of_many` the path begins with the index of the
 * task: "[3].resources.foo". */
void error_json_refusal(const struct core *core, const struct facts *facts, bool of_many,
                        struct arena *arena, struct buf *out);
