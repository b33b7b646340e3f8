/* check_life.c - checks the life cycle of pools: K19.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/must.h"
#include "core/check.h"
#include "core/model/launch.h"
#include "core/model/node.h"
#include "core/model/oindex.h"
#include "core/model/pool.h"
#include "core/model/table.h"
#include "core/state/key.h"
#include "core/state/life.h"
#include "core/state/query.h"
#include "core/state/state.h"

static void expect(const struct core *core, uint64_t *counts, bool is, struct okey key)
{
    must(oindex_has(&core->orders[ORDER_DEADLINE], key) == is);
    counts[ORDER_DEADLINE] += is;
}

/* K19: the counts from which state and health follow, and the deadlines of the life. */
static void check_pool(const struct core *core, const struct pool *pool, uint64_t *counts)
{
    uint32_t lost = 0;
    uint32_t asked = 0;
    struct pool_standing now;
    for (const struct node *node = query_pool_node_next(core, pool->id, (node_id){0}); node != NULL;
         node = query_pool_node_next(core, pool->id, node->id)) {
        lost += node->state == NODE_LOST;
    }
    for (const struct launch *launch = query_launch_next(core, (launch_id){0}); launch != NULL;
         launch = query_launch_next(core, launch->id)) {
        asked += launch->pool.v == pool->id.v && launch->state == LAUNCH_ASKED;
    }
    must(lost == pool->node_lost);
    must(asked == pool->launch_asked);
    must((pool->life.phase == PHASE_DELETE) == (pool->life.delete_ms != 0));
    must(!pool->deleted || pool->life.phase == PHASE_OPEN);
    life_standing(pool, &now);
    const bool stale =
        !pool->deleted && (now.state != pool->life.state || now.health != pool->life.health ||
                           now.why != pool->life.why);
    must(stale == (pool->life.stale != 0));
    expect(core, counts, stale, key_life(pool->id));
    const bool goes = pool->life.phase == PHASE_DELETE && pool->launch_count == 0;
    must(goes == (pool->life.goes != 0));
    expect(core, counts, goes, key_delete(pool->id, pool->life.delete_ms));
}

void check_life(const struct core *core, uint64_t *counts)
{
    for (uint64_t id = table_next(&core->pools, 0); id != 0; id = table_next(&core->pools, id)) {
        check_pool(core, table_get(&core->pools, id), counts);
    }
}
