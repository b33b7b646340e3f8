/* check_launch.c - checks the launches of pools: K14 and K16.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/must.h"
#include "core/check.h"
#include "core/model/launch.h"
#include "core/model/leave.h"
#include "core/model/limits.h"
#include "core/model/node.h"
#include "core/model/oindex.h"
#include "core/model/pool.h"
#include "core/model/table.h"
#include "core/state/elastic.h"
#include "core/state/key.h"
#include "core/state/query.h"
#include "core/state/state.h"

/* The keys that the orders should have, counted in `counts`. */
struct launch_check {
    const struct core *core;
    uint64_t *counts;
};

static void expect(struct launch_check *expected, enum order order, struct okey key)
{
    must(oindex_has(&expected->core->orders[order], key)); /* K5 */
    expected->counts[order]++;
}

/* K16: the node of a launch knows the launch, and is idle while it has no work. */
static void check_launch_node(struct launch_check *expected, const struct launch *launch)
{
    const struct node *node = table_get(&expected->core->nodes, launch->node.v);
    const bool live = launch->state != LAUNCH_ENDING && launch->leave == LEAVE_NOT;
    must(launch->leave == LEAVE_NOT || node != NULL);
    must(launch->locked == (node != NULL && node->locked));
    /* In a pool without a provider the node of a launch does not know the launch. */
    must(launch->spare == (node != NULL && node->launch.v == launch->id.v && node->spare));
    if (launch->state != LAUNCH_ENDING && !live && launch->idle_ms != 0) {
        expect(expected, ORDER_DEADLINE,
               (struct okey){{(uint64_t)launch->idle_ms, DEADLINE_LEAVE, launch->id.v}});
    }
    if (live && launch->unfit_ms != 0 && !launch->locked) {
        must(node->troubled);
        expect(expected, ORDER_DEADLINE,
               (struct okey){
                   {(uint64_t)(launch->unfit_ms + NODE_UNFIT_MS), DEADLINE_UNFIT, launch->id.v}});
    }
    if (live && node == NULL && launch->join_by_ms != 0) {
        expect(expected, ORDER_DEADLINE,
               (struct okey){{(uint64_t)launch->join_by_ms, DEADLINE_JOIN, launch->id.v}});
    }
    if (live && launch->node.v == 0) {
        expect(expected, ORDER_LAUNCH_STARTING,
               (struct okey){
                   {launch->pool.v, launch->state == LAUNCH_RUNNING, ~launch->id.v, launch->id.v}});
    }
    if (live && launch->idle_ms != 0 && !launch->locked && !launch->spare) {
        expect(expected, ORDER_LAUNCH_IDLE,
               (struct okey){{launch->pool.v, (uint64_t)launch->idle_ms, launch->id.v}});
    }
    if (elastic_pool(query_pool(expected->core, launch->pool)) && node != NULL) {
        must(node->launch.v == launch->id.v);
        must((launch->idle_ms != 0) == (node->instance_count + node->claim_count == 0));
    }
}

/* K16: the counts of the pool's launches, and the moment at which a node may go. */
static void check_pool_launches(struct launch_check *expected, const struct pool *pool)
{
    const struct core *core = expected->core;
    uint32_t counts[4] = {0};
    for (const struct launch *launch = query_launch_next(core, (launch_id){0}); launch != NULL;
         launch = query_launch_next(core, launch->id)) {
        const bool own = launch->pool.v == pool->id.v;
        const bool live = own && launch->state != LAUNCH_ENDING && launch->leave == LEAVE_NOT;
        counts[0] += own;
        counts[1] += live;
        counts[2] += live && launch->node.v == 0;
        counts[3] += own && launch->state != LAUNCH_ENDING && launch->leave != LEAVE_NOT;
    }
    must(counts[0] == pool->launch_count);
    must(counts[1] == pool->launch_live);
    must(counts[2] == pool->launch_starting);
    must(counts[3] == pool->launch_leaving);
    must(elastic_replaces(pool) == (pool->replace_ms != 0));
    if (pool->replace_ms != 0) {
        must(pool->replace_ms == pool->replacement.since_ms);
        expect(expected, ORDER_DEADLINE,
               (struct okey){{(uint64_t)pool->replace_ms, DEADLINE_REPLACE, pool->id.v}});
    }
    must((elastic_shrink_first(core, pool) != NULL) == (pool->shrink_ms != 0));
    if (pool->shrink_ms != 0) {
        expect(expected, ORDER_DEADLINE,
               (struct okey){{(uint64_t)pool->shrink_ms, DEADLINE_SHRINK, pool->id.v}});
    }
}

/* K14: a launch is of a pool that exists; only a machine that was up has joined as a node. */
void check_launch(const struct core *core, uint64_t *counts)
{
    struct launch_check own = {.core = core, .counts = counts};
    struct launch_check *expected = &own;
    must(core->launches.count <= LAUNCHES_MAX);
    for (uint64_t id = table_next(&core->pools, 0); id != 0; id = table_next(&core->pools, id)) {
        check_pool_launches(expected, table_get(&core->pools, id));
    }
    for (const struct launch *launch = query_launch_next(core, (launch_id){0}); launch != NULL;
         launch = query_launch_next(core, launch->id)) {
        must(query_pool(core, launch->pool) != NULL);
        must(launch->state < LAUNCH_STATE_COUNT);
        /* A pool without a provider does not keep the rows of nodes that its launches brought up. */
        must(launch->node.v == 0 || table_get(&core->nodes, launch->node.v) != NULL ||
             !elastic_pool(query_pool(core, launch->pool)));
        must(launch->node.v == 0 || launch->state >= LAUNCH_RUNNING);
        must(launch->changed_ms >= launch->asked_ms);
        check_launch_node(expected, launch);
    }
}
