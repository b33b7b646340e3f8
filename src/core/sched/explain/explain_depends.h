/* explain_depends.h - what a task waits for that is no place.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/model/task.h"
#include "core/sched/explain/explain.h"
#include "core/state/state.h"

/* The dependencies that still bind it: the first is the reason, the first few are named. */
void explain_depends(const struct core *core, const struct task *task, struct explanation *ret);
