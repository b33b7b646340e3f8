/* apply_life.c - the facts of a pool's life cycle.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core/apply/apply.h"

#include "base/must.h"
#include "core/model/pool.h"
#include "core/state/change.h"
#include "core/state/fact.h"
#include "core/state/life.h"
#include "core/state/query.h"

void apply_life_state(struct core *core, const struct fact *fact)
{
    struct pool_life *life = &change_pool_edit(core, fact->pool_state.pool)->life;
    life->state = fact->pool_state.now.state;
    life->health = fact->pool_state.now.health;
    life->why = fact->pool_state.now.why;
    life->since_ms = fact->time_ms;
    life_update(core, fact->pool_state.pool);
}

void apply_life_closing(struct core *core, const struct fact *fact)
{
    must(query_pool(core, fact->pool_closing.pool) != NULL);
    life_phase_set(core, fact->pool_closing.pool, PHASE_CLOSING, 0);
    life_tasks_turn(core, fact->pool_closing.pool);
}

void apply_life_pending(struct core *core, const struct fact *fact)
{
    const pool_id id = fact->pool_pending.pool;
    must(query_pool(core, id) != NULL);
    change_pool_edit(core, id)->life.had_nodes = fact->pool_pending.nodes;
    life_phase_set(core, id, PHASE_DELETE, fact->pool_pending.until_ms);
    life_tasks_turn(core, id);
}

void apply_life_restored(struct core *core, const struct fact *fact)
{
    const pool_id id = fact->pool_restored.pool;
    must(query_pool(core, id) != NULL);
    life_phase_set(core, id, PHASE_OPEN, 0);
    life_tasks_turn(core, id);
    change_pool_freed(core, id);
}
