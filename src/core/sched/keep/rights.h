/* rights.h - which tasks may use places that are kept for a holder, and which starts would use up the right of a holder's project.
 *
 *   in the holder's order   a task that comes before the holder may use the kept places
 *   between projects        a task that could evict the holder, if it already ran there, may use the kept places (reclaim_rules.h)
 *
 * The order is the order of the pool. Where turns change between projects, each project has its own order; there a reservation binds
 * other projects from the start of a pass, not from the holder's turn. Between projects a right counts more than a reservation (P4).
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

/* Do several projects wait in this pool, and do turns change between projects with what they hold? */
bool rights_between(const struct core *core, const struct pool *pool);

/* Does a task with this key of ORDER_ACCOUNT_QUEUE always come before the holder: by the pool's order, or in the holder's project? */
bool rights_ahead(const struct pool *pool, const struct task *holder, const struct okey *key);

/* The holders whose kept places a task with this key and these amounts may use: one bit for each holder. */
uint32_t rights_all(struct trial *trial, const struct task *task, const struct okey *key,
                    const struct vector *amounts);

/* Does the holder's project have a right to what the holder waits for, beside the amounts of its tasks that are not preemptible? */
bool rights_enough(const struct tally *tally, const struct task *holder);

/* In which dimensions, one bit each, does the task request more than its project has a right to, beside the amounts of the project's
 * tasks that are not preemptible? 0: in none, or the pool has no reclaim, or the task is not preemptible. */
uint32_t rights_beyond(const struct trial *trial, const struct task *task);

/* Would a start of the task leave the holder's accounts above their right when the holder starts? Then other projects could take the
 * holder's places for ever. True only for a task behind the holder in its project, or for a task in its department whose project is
 * above its own right. False where the holder itself requests more than its project's right. A task within the project's guarantee
 * is held back only if the holder is within the guarantee, too. */
bool rights_held_by(const struct tally *tally, const struct task *holder, const struct task *task,
                    const struct okey *key, const struct vector *amounts);

/* May the right of a holder's accounts hold back other tasks in this pool? Only with reclaim, and where several projects have work. */
bool rights_bind(struct trial *trial);

/* Does the trial's holder with this number hold back no task of another project, whatever that task requests? */
bool rights_apart(struct trial *trial, uint32_t number);

/* The holder for which rights_held_by() is true; NULL: none, or rights_bind() is false. */
const struct task *rights_held(struct trial *trial, const struct task *task, const struct okey *key,
                               const struct vector *amounts);
