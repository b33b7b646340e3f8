/* event_json.h - facts as the events of the API: {"seq","time","type","actor","cause",…}.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/json_out.h"
#include "core/core.h"

/* The task, pool and node of an event, for filters. 0: the event concerns no such object. */
struct event_json_subject {
    task_id task;
    pool_id pool;
    node_id node;
};

/* `core` gives the names and pools of tasks that still exist. The state may be ahead of the
 * fact. */
struct event_json_subject event_json_subject(const struct core *core, const struct fact *fact);

/* Writes the object behind `data:`. Values of environment variables are never written. */
void event_json(struct json_out *j, const struct core *core, uint64_t seq, const struct fact *fact);
