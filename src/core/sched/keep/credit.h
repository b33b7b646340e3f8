/* credit.h - turns: when a task may hold that requests more than its account's share.
 *
 * Credit is share-time that an account has not used. The credit of an account is full until a task of the account gets a turn. From
 * then on the credit changes by (share - held) in each millisecond, until it is full again. A turn may begin while the credit of
 * every account from the task's project to the top is full. One turn begins at a time in a pool.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/model/input.h"
#include "core/model/task.h"
#include "core/sched/keep/hold.h"
#include "core/sched/place/trial.h"
#include "core/state/fact.h"

#include <stdbool.h>
#include <stdint.h>

/* In which dimensions, one bit each, does the task request more than its account's share, beside the amounts of the account's tasks
 * that are not preemptible? 0: in none, or shares do not count for the task. */
uint32_t credit_beyond(const struct trial *trial, const struct task *task);

/* May a task beyond its account's share ever get a turn? False: an account on its path has no share, or what others are guaranteed
 * and ask for leaves too little. */
bool credit_possible(const struct trial *trial, const struct task *task, uint32_t beyond);

/* When the credit is full on the task's whole path in these dimensions. At most `hold->now_ms`: now, INT64_MAX: not known, because an
 * account is using up its credit. `*ret_account`: the account that is last, if one is not full. */
int64_t credit_full_ms(const struct hold *hold, const struct task *task, uint32_t beyond,
                       account_id *ret_account);

/* May the task hold? True within its account's share. Beyond: `*turn` becomes true where a turn may begin now. */
bool credit_allows(struct hold *hold, const struct task *task, bool *turn);

/* Adds facts for credits that change from now on. */
void credit_settle(const struct hold *hold, const struct input *in, struct facts *out);
