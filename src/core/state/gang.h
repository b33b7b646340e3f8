/* gang.h - gangs that have lost instances and may get back to their minimum (P2).
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/model/pool.h"
#include "core/model/task.h"

#include <stdbool.h>
#include <stdint.h>

struct core;
struct form_have;
struct okey;

/* How long a gang that lost instances may be below its minimum. STALE_GRACE_NEVER: for ever. 0: not at all. */
int64_t gang_grace_ms(const struct core *core, const struct task *task);

/* Counts instances by group. `ret`: instances that stay or have ended. `ret_stays` (may be NULL): instances
 * that stay. */
void gang_have(const struct core *core, const struct task *task, struct form_have *ret,
               struct form_have *ret_stays);

/* Would the gang have its minimum without this instance? Instances that stay or have ended count. */
bool gang_without(const struct core *core, const struct task *task,
                  const struct instance *instance);

/* The key in ORDER_DEADLINE for the moment at which a stale gang is stopped. False: the gang is not stale, or
 * its grace never ends. */
bool gang_stale_key(const struct core *core, const struct task *task, struct okey *ret);

/* Sets task->lacks from the instances as they are now. */
void gang_count(const struct core *core, struct task *task);
/* Would a gang still be below its minimum with all places that are promised to it? */
bool gang_claims_short(const struct core *core, const struct task *task);

/* Sets task->stale_ms from the counts of the task: the present moment when the gang is newly broken, 0 when
 * it is not broken. */
void gang_stale_update(struct core *core, struct task *task);
/* Sets the pool's grace for stale gangs, and moves the deadlines of its stale gangs. */
void gang_pool_grace_set(struct core *core, struct pool *pool, int64_t grace_ms);
