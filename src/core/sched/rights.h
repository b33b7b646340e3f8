/* rights.h - whose kept places a task may use although they are kept for another.
 *
 *   in the same order    those of a holder that it comes before
 *   between projects     those of a holder that it could take them from if that ran there already (reclaim_rules.h)
 *
 * One order is the pool's, or, where turns change between projects, each project's: there a reservation binds from the start of a
 * pass, not from the holder's turn on. The second is for tasks that find nothing else: a guarantee goes before a reservation (P4), but not if others can give.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/sched/reclaim_rules.h"
#include "core/sched/trial.h"

/* Do several projects wait in this pool, and turns change between them with what they hold? */
bool rights_between(const struct core *core, const struct pool *pool);

/* Does a task with this key (ORDER_ACCOUNT_QUEUE) come before the holder whatever turns are: by the pool's order, or in its project? */
bool rights_ahead(const struct pool *pool, const struct task *holder, const struct okey *key);

/* Those for whom the overlay keeps places that a task with this key comes before, bit by bit. */
uint32_t rights_own(const struct overlay *overlay, const struct okey *key);

/* Those that the claimant could take from. `losses` is scratch space. */
uint32_t rights_taken(struct trial *trial, const struct claimant *claimant, struct losses *losses);
