/* restart.h - instances that start again after they ended: when, how often, and how long they wait before that.
 *
 * An instance that ends again and again waits twice as long each time. An attempt that ran for
 * RESTART_STEADY_MS ends the row: the next end counts as the first.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/model/spec.h"
#include "core/model/task.h"

#include <stdbool.h>
#include <stdint.h>

enum { RESTART_STEADY_MS = 10 * 60 * 1000, RESTART_WAIT_MS_MAX = 5 * 60 * 1000 };

/* What the word of a task means for its kind. Never RESTART_AUTO. */
enum restart restart_of(const struct task_spec *spec);

/* Which start in a row would follow, now that the newest attempt of the instance ends at `at_ms`? 1 or more. */
uint32_t restart_next(const struct instance *instance, int64_t at_ms);

/* Does the instance start again after an end at `at_ms`? `failed`: the attempt failed by its own fault. */
bool restart_again(const struct task *task, const struct instance *instance, bool failed,
                   int64_t at_ms);

/* How long the task waits before the `count`-th start in a row. */
int64_t restart_wait_ms(const struct task *task, uint32_t count);
