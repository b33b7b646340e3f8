/* history.h - ended tasks: read on the reader thread, answered when they are back.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "api/call.h"

/* The ended task as it is stored goes to `then`, on the loop; where there is none, the answer is 404. `json` is good until it returns. */
typedef void (*history_fn)(struct call *call, task_id id, struct str json);
void history_read(struct call *call, task_id id, history_fn then);

/* Answers with the ended task, or 404. */
void history_answer(struct call *call, task_id id);
