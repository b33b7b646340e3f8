/* life.c - see life.h. SPDX-License-Identifier: Apache-2.0 */
#include "core/state/life.h"

#include "core/state/fallback.h"
#include "core/state/soldout.h"
#include "core/state/membership.h"
#include "base/arena.h"

#include "base/must.h"
#include "core/model/oindex.h"
#include "core/model/table.h"
#include "core/model/task.h"
#include "core/state/change.h"
#include "core/state/elastic.h"
#include "core/state/key.h"
#include "core/state/query.h"
#include "core/state/state.h"

/* So many launches failed in a row: the provider is asked again all ten minutes, and the pool is in state `failure`. */
enum { FAILURES_MAX = 8 };

static uint32_t larger(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

/* The nodes that are there, wanted and lost. A pool without a provider wants the nodes that have joined. */
static void count(const struct pool *pool, struct pool_standing *ret)
{
    if (!elastic_pool(pool)) {
        ret->wanted = pool->node_count;
        ret->nodes = pool->node_count - pool->node_lost;
        ret->lost = pool->node_lost;
        return;
    }
    must(pool->launch_live >= pool->launch_starting);
    ret->nodes = pool->launch_live - pool->launch_starting;
    ret->wanted = larger(pool->launch_live, pool->nodes_min);
    if (pool->launch_failures > 0) {
        ret->wanted = larger(ret->wanted, 1);
    }
    ret->lost = larger(pool->node_lost, ret->nodes < ret->wanted ? pool->life.replaced : 0);
}

static enum pool_state state_of(const struct pool *pool, const struct pool_standing *standing)
{
    const bool elastic = elastic_pool(pool);
    const uint32_t placed = elastic ? pool->launch_live - pool->launch_asked : pool->node_count;
    if (standing->nodes >= standing->wanted && (elastic || standing->nodes > 0)) {
        return POOL_FULLY_EXECUTING;
    }
    if (standing->nodes > 0) {
        return POOL_PARTIALLY_EXECUTING;
    }
    if (elastic && pool->launch_failures >= FAILURES_MAX) {
        return POOL_FAILURE;
    }
    if (placed >= standing->wanted && placed > 0) {
        return POOL_FULLY_DISPATCHED;
    }
    return elastic && pool->launch_live > 0 ? POOL_PARTIALLY_DISPATCHED : POOL_SUBMITTED;
}

static void health_set(struct pool_standing *standing, enum pool_health health, enum pool_why why)
{
    standing->health = (uint8_t)health;
    standing->why = (uint8_t)why;
}

static void health_of(const struct pool *pool, struct pool_standing *ret)
{
    const bool short_of = ret->nodes < ret->wanted;
    const bool refused = elastic_pool(pool) && pool->launch_failures > 0 && short_of;
    const enum pool_health bad = ret->nodes == 0 ? HEALTH_UNAVAILABLE : HEALTH_DEGRADED;
    if (ret->lost > 0) {
        health_set(ret, bad, ret->nodes == 0 ? WHY_ALL_LOST : WHY_LOST);
    } else if (refused) {
        health_set(ret, bad, WHY_PROVIDER);
    } else if (ret->wanted == 0) {
        const bool elastic = elastic_pool(pool);
        health_set(ret, elastic ? HEALTH_RUNNING : HEALTH_UNAVAILABLE,
                   elastic ? WHY_EMPTY : WHY_NO_NODES);
    } else {
        health_set(ret, HEALTH_RUNNING, short_of ? WHY_STARTING : WHY_ALL_UP);
    }
}

void life_standing(const struct pool *pool, struct pool_standing *ret)
{
    *ret = (struct pool_standing){0};
    count(pool, ret);
    if (pool->life.phase == PHASE_OPEN) {
        ret->state = (uint8_t)state_of(pool, ret);
        health_of(pool, ret);
        return;
    }
    const bool deleted = pool->life.phase == PHASE_DELETE;
    const bool busy = pool->running_count > 0 || pool->launch_count > 0;
    ret->state = deleted ? POOL_PENDING_DELETE : busy ? POOL_CLOSING : POOL_CLOSED;
    health_set(ret, HEALTH_UNAVAILABLE, deleted ? WHY_DELETED : WHY_CLOSED);
}

/* Inserts or removes a key of the pool in ORDER_DEADLINE. */
static void key_set(struct core *core, uint8_t *is, bool want, struct okey key)
{
    struct oindex *order = &core->orders[ORDER_DEADLINE];
    if (*is == want) {
        return;
    }
    must(want ? oindex_insert(order, key) : oindex_remove(order, key));
    *is = want;
}

void life_update(struct core *core, pool_id id)
{
    struct pool *pool = change_pool_edit(core, id);
    struct pool_life *life = &pool->life;
    struct pool_standing now;
    life_standing(pool, &now);
    const bool differs =
        now.state != life->state || now.health != life->health || now.why != life->why;
    key_set(core, &life->stale, differs && !pool->deleted, key_life(id));
    /* A pool whose provider still has machines stays, so that the machines are ended. */
    const bool goes = life->phase == PHASE_DELETE && pool->launch_count == 0 && !pool->deleted;
    key_set(core, &life->goes, goes, key_delete(id, life->delete_ms));
}

void life_replaced(struct core *core, pool_id id)
{
    struct pool *pool = change_pool_edit(core, id);
    if (pool->launch_starting == 0 && pool->launch_live >= pool->nodes_min) {
        pool->life.replaced = 0;
    }
    life_update(core, id);
}

/* No node belongs to a deleted pool by its labels. A restored pool has its selector again. */
static void selector_turn(struct core *core, pool_id id)
{
    struct arena arena;
    struct pool_spec spec;
    arena_init(&arena);
    query_pool_spec(core, id, &arena, &spec);
    membership_pool_set(core, id, &spec);
    arena_done(&arena);
}

/* The pool takes no more part: it waits for no flavor, replaces no node and promises no place. */
static void pool_leave(struct core *core, pool_id id)
{
    const struct replacement none = {0};
    const struct pool *pool = query_pool(core, id);
    soldout_wait_set(core, id, 0, 0, core->time_ms);
    if (pool->replacement.at_once != 0) {
        change_pool_replacement_set(core, id, &none, "");
    }
    const struct node *node = NULL;
    while ((node = query_pool_node_next(core, id, node != NULL ? node->id : (node_id){0})) !=
           NULL) {
        if (node->claim_count > 0) {
            change_claim_drop_node(core, node->id);
        }
    }
}

void life_phase_set(struct core *core, pool_id id, enum pool_phase phase, int64_t delete_ms)
{
    struct pool *pool = change_pool_edit(core, id);
    const bool was_deleted = pool->life.phase == PHASE_DELETE;
    /* The key has the old moment: the pool leaves the order first. */
    key_set(core, &pool->life.goes, false, key_delete(id, pool->life.delete_ms));
    pool->life.phase = (uint8_t)phase;
    pool->life.replaced = 0;
    pool->life.delete_ms = delete_ms;
    pool->life.had_nodes = phase == PHASE_DELETE ? pool->life.had_nodes : 0;
    elastic_shrink_update(core, id);
    if (was_deleted != (phase == PHASE_DELETE) && !pool->deleted) {
        selector_turn(core, id);
    }
    if (phase != PHASE_OPEN) {
        pool_leave(core, id);
    }
    if (!pool->deleted) {
        /* tasks that name other pools, too, need not wait for this one */
        change_pool_due(core, id);
    }
    life_update(core, id);
}

void life_tasks_turn(struct core *core, pool_id id)
{
    if (change_pool_edit(core, id)->task_count == 0 && core->fallbacks.count == 0) {
        return;
    }
    for (uint64_t at = table_next(&core->tasks, 0); at != 0; at = table_next(&core->tasks, at)) {
        if (fallback_names(core, query_task(core, (task_id){at}), id)) {
            struct task_mark mark;
            struct task *task = change_task_open(core, (task_id){at}, &mark);
            fallback_pool_gone(core, task);
            change_task_close(core, task, &mark);
        }
    }
}
