/* event_json.h - facts as the events of the API: {"seq","time","type","actor","cause",…}.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/json_out.h"
#include "core/core.h"

/* What an event is about, for filters; 0: nothing of that kind. */
struct event_json_subject {
    task_id task;
    pool_id pool;
    node_id node;
};

/* `core` gives names and pools of tasks that still live; it may be ahead of the fact. */
struct event_json_subject event_json_subject(const struct core *core, const struct fact *fact);

/* The object of `data:`. Never environment values. */
void event_json(struct json_out *j, const struct core *core, uint64_t seq, const struct fact *fact);
