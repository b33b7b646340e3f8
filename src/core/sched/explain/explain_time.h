/* explain_time.h - the part of an explanation that is about others: a task that only time keeps from taking its place from them.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/model/reason.h"
#include "core/model/task.h"
#include "core/sched/place/trial.h"

/* A task that waits for room and will get it from others once its preemption delay, or their minimum runtime, is over: that is the
 * reason, and `until_ms` the moment from which on it may, at the latest. Else the reason stays. The trial stays as it is. */
void explain_time(struct trial *trial, const struct task *task, struct reason *reason);
