/* access.h - which tasks a pool takes: by their kinds, and by their projects where the pool is dedicated.
 *
 * Whether a pool takes a task is judged when the task is submitted, when its pool or project changes, and when the pool is
 * edited, and when the project or a department around it moves in the tree of accounts. The judgement stays with the task
 * (task.turned_away).
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/model/account.h"
#include "core/model/ids.h"
#include "core/model/pool.h"
#include "core/model/reason.h"
#include "core/model/spec.h"
#include "core/model/task.h"

#include <stdbool.h>

struct core;

/* Does the pool take tasks of this kind and project? False: `*ret` says why not. */
bool access_admits(const struct core *core, const struct pool *pool, enum task_kind kind,
                   account_id project, struct reason *ret);

/* Is the pool open, and does it take tasks of this kind and project? */
bool access_open(const struct core *core, const struct pool *pool, enum task_kind kind,
                 account_id project);

/* Would a pool with this spec take the task? */
bool access_spec_admits(const struct core *core, const struct pool_spec *spec,
                        const struct task *task);

/* The name in an entry of `guests` behind its slash, and its kind; "": the entry has no kind in front. */
const char *access_guest(const char *entry, enum account_kind *ret_kind);

/* Does the entry name the project, or a department around it? */
bool access_guest_is(const struct core *core, const char *entry, account_id project);

/* Judges a task whose pool or project has changed. The row of the task is open. */
void access_task_set(const struct core *core, struct task *task);

/* Sets what the pool takes, and judges its tasks anew where that has changed. */
void access_pool_set(struct core *core, pool_id pool, const struct pool_spec *spec);

/* Judges the tasks of an account that has moved in the tree, and of all accounts below it. */
void access_account_moved(struct core *core, account_id account);
