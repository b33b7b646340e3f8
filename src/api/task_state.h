/* task_state.h - the state of a task, whether it lives or has ended. SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/core.h"

/* TASK_PENDING also stands for a task that never was. */
static inline enum task_state task_state_now(const struct core *core, task_id id)
{
    const struct task *task = query_task(core, id);
    return task != NULL ? (enum task_state)task->state : query_task_outcome(core, id);
}
