/* explain_life.h - tasks of a pool that is closed or deleted, or that no longer takes them.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/model/pool.h"
#include "core/model/reason.h"
#include "core/model/task.h"

#include <stdbool.h>

struct core;

/* Does the pool start no task because a user closed or deleted it? Then `ret` says so. */
bool explain_life(const struct pool *pool, struct reason *ret);

/* Why the pool, which was edited, no longer takes the task. The tree of accounts may have changed since: then the reason is the
 * project. */
void explain_life_turned_away(const struct core *core, const struct task *task,
                              const struct pool *pool, struct reason *ret);
