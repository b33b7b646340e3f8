/* elsewhere.h - another pool in which a waiting task would start now. SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/arena.h"
#include "core/core.h"
#include "core/sched/explain/explain.h"

/* Returns the command that moves the task to a pool where it starts now without stopping others; NULL: none was found. Tries the move in
 * copies of the core, in at most four pools that have room. */
const char *elsewhere_command(const struct core *core, task_id id, const struct explanation *why,
                              struct arena *arena);
