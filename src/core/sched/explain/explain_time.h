/* explain_time.h - from which moment a waiting task may evict others.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/model/reason.h"
#include "core/model/task.h"
#include "core/sched/place/trial.h"

/* If the task waits for room and could evict others after its preemption delay, or after the minimum runtime of others, then that is
 * the reason. `until_ms` is the moment from which the task may evict, at the latest. Else the reason stays. The trial stays as it is. */
void explain_time(struct trial *trial, const struct task *task, struct reason *reason);
