/* fallback_json.h - the open pools of a task that names several pools, as JSON.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/json_out.h"
#include "core/core.h"

/* Writes "fallback":{"after":"5m","on":["lost"]} as a file would have it; nothing where the spec says no condition. */
void fallback_json_spec(struct json_out *j, const struct task_spec *spec);

/* Writes "fallback":{…}: the conditions, the open pools with the reason why each is open, and the next pool. With
 * `reasons` each open pool also says why the task waits there. null: the task names one pool. */
void fallback_json(struct json_out *j, const struct core *core, const struct task *task,
                   bool reasons);
