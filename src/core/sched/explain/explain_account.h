/* explain_account.h - the part of an explanation that is about accounts: bounds that hold a task back, and how its project stands.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/model/task.h"
#include "core/model/vector.h"
#include "core/sched/explain/explain.h"
#include "core/sched/order/tally.h"
#include "core/sched/place/trial.h"
#include "core/state/state.h"

#include <stdbool.h>

/* How the task's project stands in slots, or the account that holds the task back in the resource that does. True: a bound of its
 * accounts or of its user holds it back; the reason says which. */
bool explain_account(const struct core *core, const struct task *task, const struct tally *tally,
                     struct explanation *ret);

/* Cpu or memory that come with the slots are in the way on every node with room: the account and the bound. `comes` is what the
 * places would bring, one of them too many. */
void explain_account_left(const struct core *core, const struct task *task,
                          const struct tally *tally, const struct vector *comes,
                          struct explanation *ret);

/* The task finds no room, and none is kept for it: does it ask for more than its project has a right to? Then that is the reason. */
void explain_account_share(const struct trial *trial, const struct task *task,
                           struct explanation *ret);
