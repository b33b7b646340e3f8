/* eviction_json.h - why an instance was evicted: for which task, by which rule, and what victim
 * and taker held at that time.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/json_out.h"
#include "core/core.h"

/* Writes "rule" into the open object. If another task took the place, "claimant", "resource",
 * "victim":{…} and "taker":{…} follow. */
void eviction_json(struct json_out *j, const struct core *core, const struct eviction *why);

/* Writes "evicted":{…}, the last eviction of an instance of the task. null: there was none. */
void eviction_json_evicted(struct json_out *j, const struct core *core, const struct task *task);
