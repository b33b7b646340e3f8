/* explain_depends.h - for which other tasks a task waits.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/model/task.h"
#include "core/sched/explain/explain.h"
#include "core/state/state.h"

/* The dependencies that have not ended as the task needs: the first is the reason, the first few are in `blockers`. */
void explain_depends(const struct core *core, const struct task *task, struct explanation *ret);
