/* depends.h - tasks that wait for the end of others.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/model/ids.h"
#include "core/model/task.h"

#include <stdbool.h>
#include <stdint.h>

struct core;
struct okey;
struct task_spec;

/* Does the i-th dependency of a task stand in its list before? */
bool depends_twice(const struct task_spec *spec, uint32_t i);

/* The first of the tasks that wait for `dependency`; false: none does. */
bool depends_first(const struct core *core, task_id dependency, struct okey *ret);

/* Does an end in this state set the waiting task of this key free? */
bool depends_freed(struct okey key, enum task_state state);
