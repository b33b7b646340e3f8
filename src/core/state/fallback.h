/* fallback.h - the open pools of tasks that name several pools.
 *
 * A task that waits has its own row in the queue of one pool, its home. In the queue of each other open pool stands an
 * entry: a copy of the row with another pool and another shape. The scheduler sees entries as tasks of their pool.
 * Entries are derived: they exist while the task waits, holds no place and is promised none.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/model/fallback.h"
#include "core/model/ids.h"
#include "core/model/spec.h"
#include "core/model/task.h"

#include <stdbool.h>
#include <stdint.h>

struct core;
struct task_mark;

/* The row of the task; NULL: the task names one pool. */
const struct fallback *fallback_of(const struct core *core, const struct task *task);

/* The index of the pool that would open next; list->count: no pool is left. */
uint32_t fallback_next(const struct core *core, const struct fallback *list);

/* The pool opened last of those that are open to tasks; where none is, the pool opened last. */
pool_id fallback_last(const struct core *core, const struct fallback *list);

/* Is this the pool that is asked for nodes for the task: its only pool, or the pool opened last? */
bool fallback_grows(const struct core *core, const struct task *task, pool_id pool);

/* Does the task name the pool, or wait in it? */
bool fallback_names(const struct core *core, const struct task *task, pool_id pool);

/* The entry of the task in the queue of this pool; NULL: there is none. */
const struct task *fallback_entry(const struct core *core, const struct task *task, pool_id pool);

/* The entry with this number, in the order of tasks and of their lists. Start with 0; NULL at the end. */
const struct task *fallback_entry_next(const struct core *core, uint64_t *number);

/* ---- changes ---- */

/* The spec of the task is new or changed, and the pool of its row is its home now: makes, changes or removes the row of
 * its pools. All pools up to the home are open. The caller closes the task. */
void fallback_set(struct core *core, struct task *task, const struct task_spec *spec);

/* The project of the task, or what a pool takes, has changed: the list has the pools that take the task now. A waiting task whose
 * own pool does not take it goes to the first of them. The row of the task is open. */
void fallback_admit(struct core *core, struct task *task);

/* Only the conditions of the spec have changed. The caller closes the task. */
void fallback_conditions_set(struct core *core, const struct task *task,
                             const struct task_spec *spec);

/* Opens `pool` for the task, and all pools that stand before `pool` in the task's list. The caller calls change_task_close() afterwards. */
void fallback_open(struct core *core, struct task *task, pool_id pool, enum fallback_why why);

/* The task gets a place, or is promised one, in this open pool: the pool becomes its home. The caller closes the task. */
void fallback_settle(struct core *core, struct task *task, pool_id pool);

/* A pool was deleted. If it was the home of the task, the first pool of the list that is left becomes the home. */
void fallback_pool_gone(struct core *core, struct task *task);

/* The row of the task has been closed: makes the entries of its open pools equal to it. */
void fallback_close(struct core *core, const struct task *task);

/* Takes all entries of the task out of their queues, because its request or its project changes. */
void fallback_withdraw(struct core *core, const struct task *task);

/* Removes the row of a task that has ended. */
void fallback_forget(struct core *core, struct task *task);

/* The row of the task in the queue of this pool, for writing: its own row, or its entry. */
struct task *fallback_row_edit(struct core *core, pool_id pool, task_id id);
