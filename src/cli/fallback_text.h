/* fallback_text.h - texts about the pools of a task that names several, from the `fallback` of a task or of an explanation.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/buf.h"
#include "base/doc.h"

/* Writes "spot (named first), on-demand (spot has no capacity); next default in 4m"; nothing for a task with one pool. */
void fallback_text_pools(struct buf *out, const struct doc *task, int64_t now_ms);

/* Writes a paragraph: each open pool, why it is open, and why the task waits there; when the next pool opens. */
void fallback_text_explain(struct buf *out, const struct doc *doc, int64_t now_ms);
