/* history.h - ended tasks: read on the reader thread, answered when they are back.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "api/call.h"

/* Answers with the ended task, or 404. */
void history_answer(struct call *call, task_id id);
