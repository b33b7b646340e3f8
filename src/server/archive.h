/* archive.h - writes an ended task to the history. SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "server/batch.h"

/* Adds the history row of a task that has just ended, as the API shows it, to the batch. */
void archive_task(const struct core *core, task_id id, struct batch *batch);
