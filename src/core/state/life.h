/* life.h - the state and the health of a pool, from counts of its row.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/model/life.h"
#include "core/model/pool.h"

struct core;

/* The state and the health that the pool has now. Looks at the pool's row alone. */
void life_standing(const struct pool *pool, struct pool_standing *ret);

/* Counts of the pool may have changed. Where state or health are not as the last fact said, a tick is due. */
void life_update(struct core *core, pool_id pool);

/* A launch of the pool has changed: forgets lost nodes once the pool has all its nodes again. */
void life_replaced(struct core *core, pool_id pool);

/* Sets the phase. `delete_ms`: when a pool of PHASE_DELETE goes for good; 0 in other phases. */
void life_phase_set(struct core *core, pool_id pool, enum pool_phase phase, int64_t delete_ms);

/* Closes the rows of all tasks of the pool anew, because whether the pool has tasks changed. Looks at every task, which is rare. */
void life_tasks_turn(struct core *core, pool_id pool);
