/* gang.h - gangs that have lost some of their instances and may become whole again (P2).
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/model/pool.h"
#include "core/model/task.h"

#include <stdbool.h>
#include <stdint.h>

struct core;
struct form_have;
struct okey;

/* How long a gang that lost some of its instances may be below its minimum (STALE_GRACE_NEVER: for ever; 0: not at all). */
int64_t gang_grace_ms(const struct core *core, const struct task *task);

/* Instances by group that run and stay (`ret_stays`, or NULL), and with them those that have done their work. */
void gang_have(const struct core *core, const struct task *task, struct form_have *ret,
               struct form_have *ret_stays);

/* Would its minimum be met without this one, by those that run and stay or have done their work? */
bool gang_without(const struct core *core, const struct task *task,
                  const struct instance *instance);

/* When a broken gang has to end, as ORDER_DEADLINE has it; false: it is not broken, or need not end. */
bool gang_stale_key(const struct core *core, const struct task *task, struct okey *ret);

/* What its groups lack, as its instances are now. */
void gang_count(const struct core *core, struct task *task);
/* Is what is promised to a gang too little for its minimum? */
bool gang_claims_short(const struct core *core, const struct task *task);

/* Since when a gang has been broken, as its counts say now. */
void gang_stale_update(struct core *core, struct task *task);
/* The grace of the pool's broken gangs; their deadlines follow. */
void gang_pool_grace_set(struct core *core, struct pool *pool, int64_t grace_ms);
