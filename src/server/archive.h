/* archive.h - writes ended tasks and earlier attempts to the store. SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "server/batch.h"

/* Adds the history row of a task that has just ended, as the API shows it, to the batch. */
void archive_task(const struct core *core, task_id id, struct batch *batch);

/* Adds the row of an attempt that has just ended, unless the attempt is the last one of its instance
 * for certain: then the history row of the task shows the attempt. */
void archive_attempt(const struct core *core, const struct fact *ended, struct batch *batch);
