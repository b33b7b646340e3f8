/* eviction_json.h - why somebody had to leave: for whom, by which rule, and how both accounts stood.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/buf.h"
#include "base/json_out.h"
#include "core/core.h"

/* "rule", and where somebody took the place "claimant", "resource", "victim":{…}, "taker":{…}, into the open object. */
void eviction_json(struct json_out *j, const struct core *core, const struct eviction *why);

/* The same as a sentence, without a full stop. */
void eviction_json_text(const struct core *core, const struct eviction *why, struct buf *out);

/* "evicted":{…}: the last time that an instance of the task was told to leave; null: never. */
void eviction_json_evicted(struct json_out *j, const struct core *core, const struct task *task);
