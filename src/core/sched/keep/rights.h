/* rights.h - whose kept places a task may use although they are kept for another.
 *
 *   in the same order    those of a holder that it comes before
 *   between projects     those of a holder that it could take them from if that ran there already (reclaim_rules.h)
 *
 * One order is the pool's, or, where turns change between projects, each project's: there a reservation binds from the start of a
 * pass, not from the holder's turn on. The second: a right goes before a reservation (P4).
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/model/oindex.h"
#include "core/model/pool.h"
#include "core/model/task.h"
#include "core/model/vector.h"
#include "core/sched/order/tally.h"
#include "core/sched/place/trial.h"
#include "core/state/state.h"

#include <stdbool.h>
#include <stdint.h>

/* Do several projects wait in this pool, and turns change between them with what they hold? */
bool rights_between(const struct core *core, const struct pool *pool);

/* Does a task with this key (ORDER_ACCOUNT_QUEUE) come before the holder whatever turns are: by the pool's order, or in its project? */
bool rights_ahead(const struct pool *pool, const struct task *holder, const struct okey *key);

/* The holders whose kept places a task with this key may use for so much, bit by bit. */
uint32_t rights_all(struct trial *trial, const struct task *task, const struct okey *key,
                    const struct vector *amounts);

/* Has the holder's project a right to what it waits for, beside what it holds that nobody may take? */
bool rights_enough(const struct tally *tally, const struct task *holder);

/* In a pool that shares fairly and takes back: the dimensions in which the task asks for more than its project has a right to, beside what
 * that holds and nobody may take, bit by bit; 0: none, or it could not be taken from. */
uint32_t rights_beyond(const struct trial *trial, const struct task *task);

/* Would the task, with this key, leave a holder above its account's right if it had so much when that starts? Others could take the
 * holder's places from it for ever, as long as those behind it in its project, or those in its department beyond their own right,
 * use up what it may have. Only what the holder has a right to is kept so: from those behind it within the project's guarantee only if
 * it is within that, too. */
bool rights_held_by(const struct tally *tally, const struct task *holder, const struct task *task,
                    const struct okey *key, const struct vector *amounts);

/* The holder that holds a task back so; NULL: none. In pools that share fairly and take back, while several projects wait. */
const struct task *rights_held(struct trial *trial, const struct task *task, const struct okey *key,
                               const struct vector *amounts);
