/* explain_rollout.h - why a service has instances that a rollout holds back. SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/model/reason.h"

struct core;
struct task;

/* The reason of a task that has held instances and no waiting one. While others run, and the rollout goes on by itself, there is
 * nothing to explain. */
void explain_rollout(const struct core *core, const struct task *task, struct reason *ret);
