/* depends.h - dependencies: tasks that wait for the end of other tasks.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/model/ids.h"
#include "core/model/task.h"

#include <stdbool.h>
#include <stdint.h>

struct core;
struct okey;
struct task_spec;

/* Is the i-th dependency of a task a repetition of an earlier one in its list? */
bool depends_twice(const struct task_spec *spec, uint32_t i);

/* The key of the first task that waits for the end of task `dependency`; false: no task waits. */
bool depends_first(const struct core *core, task_id dependency, struct okey *ret);

/* The dependency of this key ended in `state`. Does this end release the waiting task? */
bool depends_freed(struct okey key, enum task_state state);
