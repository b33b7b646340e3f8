/* error_json.h - {"error":{"code","message","path"}}: every failure and refusal the API answers.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/arena.h"
#include "base/buf.h"
#include "base/fail.h"
#include "core/core.h"

/* A failure. */
void error_json(const struct error *e, struct buf *out);

/* A failure with another code than fail_code_name()'s, such as "stale" or "protocol". */
void error_json_code(const char *code, const char *message, struct buf *out);

/* What core_decide() refused: the code of reason_help_err() (or "key-reused"), the sentence, the field
 * and `"reason":{…}`. `of_many`: the path begins with the task's index, "[3].resources.foo". */
void error_json_refusal(const struct core *core, const struct facts *facts, bool of_many,
                        struct arena *arena, struct buf *out);
