/* history.h - ended tasks: the reader thread reads them, and the loop answers.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "api/call.h"

/* Reads an ended task and calls `then` on the loop with its JSON, all attempts included. Answers 404
 * when there is none. `json` is valid until `then` returns. */
typedef void (*history_fn)(struct call *call, task_id id, struct str json);
void history_read(struct call *call, task_id id, history_fn then);

/* Answers with the ended task, or 404. */
void history_answer(struct call *call, task_id id);

/* Answers with a live task and all its attempts. */
void history_answer_live(struct call *call, task_id id);
