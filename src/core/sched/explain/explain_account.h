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

/* Does a bound of the task's accounts or of its user hold the task back? `ret->reason` names the bound. `ret->account`: the account
 * whose bound holds the task back, in the bounded resource; else the task's project in slots. */
bool explain_account(const struct core *core, const struct task *task, const struct tally *tally,
                     struct explanation *ret);

/* The reason of a task that finds room, but only beyond a bound: amounts that are known on the node alone are too large. `comes`:
 * the amounts of the free places, the first place beyond the bound included. */
void explain_account_left(const struct core *core, const struct task *task,
                          const struct tally *tally, const struct vector *comes,
                          struct explanation *ret);

/* Makes REASON_OVER_SHARE the reason of a task that finds no room, holds no reservation and requests more than its project has a
 * right to. Else the reason stays. */
void explain_account_share(const struct trial *trial, const struct task *task,
                           struct explanation *ret);
