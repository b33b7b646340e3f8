/* archive.h - writes ended tasks and earlier attempts to the store. SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "server/batch.h"

/* Adds how long the instances without a place have waited. Called before FACT_TASK_KILL_ASKED or
 * FACT_TASK_ENDED is applied, which ends these instances. */
void archive_waits_end(const struct core *core, const struct fact *fact, struct batch *batch);

/* Adds the history row of a task that has just ended, as the API shows it, and counts its end. */
void archive_task(const struct core *core, task_id id, struct batch *batch);

/* Adds what an attempt that has just ended used; and the row of the attempt, unless it is the last one of its
 * instance for certain: then the history row of the task shows the attempt. */
void archive_attempt(const struct core *core, const struct fact *ended, struct batch *batch);
