/* preempt.h - a waiting task takes the places of tasks of lower priority in its project. In a pool with policy `priority` the
 * victims may be of any project.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/sched/take/action.h"

/* One of the three actions of action.h. CHUNK_FAILED: no victims make room; the trial is as it was. */
enum chunk_result preempt_try(struct action *action, const struct chunk *chunk);

/* Does some task of a lower priority than `task` run in the same project? `account` is that project. */
bool preempt_lower(const struct action *action, const struct account_view *account,
                   const struct task *task);
