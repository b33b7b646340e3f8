/* explain_provider.h - tasks that wait for nodes of a provider.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/model/pool.h"
#include "core/model/reason.h"
#include "core/model/task.h"

struct core;

/* Does the task wait for nodes that the pool's provider brings up? Then the state of the provider is the reason, else
 * `ret` stays as it is. */
void explain_provider(const struct core *core, const struct task *task, const struct pool *pool,
                      struct reason *ret);
