/* decide_scale.c - the size of a pool with a provider changes by hand, or nodes are named that leave the pool.
 *
 *   nodes that the user names ─┐
 *   nodes on their way         ├─▶ leave, in this order, until the pool has its new size
 *   nodes without work         │
 *   nodes with the least work ─┘   locked nodes never leave
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/arena.h"
#include "base/must.h"
#include "base/sort.h"
#include "core/decide/decide.h"
#include "core/decide/decide_leave.h"
#include "core/decide/step.h"
#include "core/model/flavor.h"
#include "core/model/instance.h"
#include "core/model/launch.h"
#include "core/model/limits.h"
#include "core/model/node.h"
#include "core/model/object.h"
#include "core/model/pool.h"
#include "core/model/reason.h"
#include "core/model/resource.h"
#include "core/model/spec.h"
#include "core/model/spec_limits.h"
#include "core/model/verdict.h"
#include "core/sched/grow_zone.h"
#include "core/state/elastic.h"
#include "core/state/fact.h"
#include "core/state/query.h"

/* A launch that may leave. */
struct leaver {
    launch_id launch;
    node_id node; /* 0: on its way */
    int64_t idle_ms;
    int64_t loss; /* the work that would be lost: thousandths of slots times milliseconds */
};

/* The work of an instance that is not saved. A gang stops as a whole. */
static int64_t loss_of(const struct core *core, const struct instance *instance, int64_t now_ms)
{
    const struct task *task = query_task(core, instance->task);
    const int64_t saved_ms = instance_unsaved_ms(instance);
    const int64_t lost_ms = now_ms > saved_ms ? now_ms - saved_ms : 0;
    const int64_t held = instance->slots_milli > 0 ? instance->slots_milli : 1;
    const int64_t times = task->gang ? task->active_count : 1;
    int64_t loss;
    return __builtin_mul_overflow(lost_ms, held, &loss) ||
                   __builtin_mul_overflow(loss, times, &loss)
               ? INT64_MAX
               : loss;
}

static int64_t node_loss(const struct core *core, node_id node, int64_t now_ms)
{
    struct attempt_key cursor = {0};
    int64_t sum = 0;
    const struct instance *instance;
    while ((instance = query_node_instance_next(core, node, &cursor)) != NULL) {
        const int64_t loss = loss_of(core, instance, now_ms);
        sum = loss > INT64_MAX - sum ? INT64_MAX : sum + loss;
    }
    return sum;
}

/* Nodes on their way, the newest first; then nodes without work, the longest idle first; then the least loss. */
static int compare(const void *a, const void *b)
{
    const struct leaver *x = a;
    const struct leaver *y = b;
    if ((x->node.v == 0) != (y->node.v == 0)) {
        return x->node.v == 0 ? -1 : 1;
    }
    if (x->node.v == 0) {
        return x->launch.v > y->launch.v ? -1 : 1;
    }
    if ((x->idle_ms == 0) != (y->idle_ms == 0)) {
        return x->idle_ms != 0 ? -1 : 1;
    }
    if (x->idle_ms != y->idle_ms) {
        return x->idle_ms < y->idle_ms ? -1 : 1;
    }
    if (x->loss != y->loss) {
        return x->loss < y->loss ? -1 : 1;
    }
    return x->launch.v < y->launch.v ? -1 : 1;
}

/* The launches that may leave, the best first. */
static struct leaver *candidates(struct step *step, const struct core *core,
                                 const struct pool *pool, uint32_t *ret_count)
{
    struct leaver *at = arena_new(step->out->arena, struct leaver, pool->launch_live + 1);
    uint32_t count = 0;
    for (const struct launch *launch = query_launch_next(core, (launch_id){0}); launch != NULL;
         launch = query_launch_next(core, launch->id)) {
        const bool live = launch->state != LAUNCH_ENDING && launch->leave == LEAVE_NOT;
        if (launch->pool.v != pool->id.v || !live || launch->locked) {
            continue;
        }
        must(count < pool->launch_live);
        at[count++] = (struct leaver){
            .launch = launch->id,
            .node = launch->node,
            .idle_ms = launch->idle_ms,
            .loss = launch->node.v != 0 ? node_loss(core, launch->node, step->in->now_ms) : 0};
    }
    sort_items(at, count, sizeof *at, compare);
    *ret_count = count;
    return at;
}

/* May the node that the user names leave? */
static bool may_leave(struct step *step, const struct pool *pool, node_id id)
{
    const struct node *node = query_node(step->core, id);
    const struct launch *launch = node == NULL ? NULL : query_launch(step->core, node->launch);
    if (launch == NULL || launch->pool.v != pool->id.v || node->state == NODE_REMOVED) {
        step_refuse(step, REASON_UNKNOWN_OBJECT, "node")->node = id;
        return false;
    }
    if (node->locked) {
        step_refuse(step, REASON_NODE_LOCKED, query_node_name(step->core, id))->node = id;
        return false;
    }
    return !decide_leave_refused(step, node, step->in->scale.busy);
}

static void node_leave(struct step *step, node_id node, const char *words)
{
    decide_leave_node(
        step, node,
        &(struct leaving){.leave = LEAVE_SCALED, .busy = step->in->scale.busy, .words = words});
}

/* Refuses, because `locked` nodes keep the pool from shrinking to its new size. */
static enum verdict locked_refuse(struct step *step, const struct pool *pool, uint32_t locked)
{
    struct reason *reason = step_refuse(step, REASON_NODES_LOCKED, "");
    reason->pool = pool->id;
    reason->need = pool->nodes_max;
    reason->have = locked;
    return VERDICT_CONFLICT;
}

/* In each zone as many launches leave as the pool has there above its number. */
static enum verdict zones_shrink(struct step *step, pool_id id, enum busy busy, const char *words)
{
    const struct core *core = step_state(step);
    const struct pool *pool = query_pool(core, id);
    const struct flavor *flavor = query_flavor(core, pool->flavor);
    uint32_t live[FLAVOR_ZONES_MAX];
    uint32_t count = 0;
    grow_zone_live(core, pool, live);
    const struct leaver *at = candidates(step, core, pool, &count);
    const struct leaver **goes = arena_new(step->out->arena, const struct leaver *, count + 1);
    uint32_t going = 0;
    for (uint32_t i = 0; i < count; i++) {
        const int zone =
            query_flavor_zone_named(flavor, query_launch_zone(query_launch(core, at[i].launch)));
        const bool over = zone < 0 || live[zone] > pool->zone_wants[zone];
        if (!over) {
            continue;
        }
        live[zone < 0 ? 0 : zone] -= zone >= 0;
        if (at[i].node.v != 0 && decide_leave_refused(step, query_node(core, at[i].node), busy)) {
            return VERDICT_CONFLICT;
        }
        goes[going++] = &at[i];
    }
    for (uint32_t i = 0; i < flavor->zone_count; i++) {
        if (live[i] > pool->zone_wants[i]) {
            return locked_refuse(step, pool, pool->launch_live - count);
        }
    }
    for (uint32_t i = 0; i < going; i++) {
        if (goes[i]->node.v != 0) {
            decide_leave_node(
                step, goes[i]->node,
                &(struct leaving){.leave = LEAVE_SCALED, .busy = busy, .words = words});
        } else {
            decide_launch_end(step, query_launch(step_state(step), goes[i]->launch), words);
        }
    }
    return VERDICT_OK;
}

enum verdict decide_scale_zones(struct step *step, pool_id id)
{
    return query_pool(step_state(step), id)->zoned
               ? zones_shrink(step, id, BUSY_WAIT, "its zone has more nodes than it should have")
               : VERDICT_OK;
}

/* As many launches leave as the pool has above its new maximum. */
static enum verdict shrink(struct step *step, pool_id id)
{
    const struct core *core = step_state(step);
    const struct pool *pool = query_pool(core, id);
    static const char words[] = "the pool was made smaller";
    if (pool->zoned) {
        return zones_shrink(step, id, step->in->scale.busy, words);
    }
    const uint32_t max = pool->nodes_max;
    uint32_t over = pool->launch_live > max ? pool->launch_live - max : 0;
    uint32_t count = 0;
    const struct leaver *at = over > 0 ? candidates(step, core, pool, &count) : NULL;
    if (over > count) {
        return locked_refuse(step, pool, pool->launch_live - count);
    }
    for (uint32_t i = 0; i < over; i++) {
        if (at[i].node.v != 0 &&
            decide_leave_refused(step, query_node(core, at[i].node), step->in->scale.busy)) {
            return VERDICT_CONFLICT;
        }
    }
    for (uint32_t i = 0; i < over; i++) {
        if (at[i].node.v != 0) {
            node_leave(step, at[i].node, words);
        } else {
            decide_launch_end(step, query_launch(step_state(step), at[i].launch), words);
        }
    }
    return VERDICT_OK;
}

enum verdict decide_scale(struct step *step)
{
    const struct pool *pool = query_pool(step->core, step->in->scale.pool);
    const struct pool_spec *spec = step->in->scale.spec;
    const char *limit;
    int64_t max;
    if (pool == NULL) {
        step_refuse(step, REASON_UNKNOWN_OBJECT, "pool")->pool = step->in->scale.pool;
        return VERDICT_NOT_FOUND;
    }
    if (!elastic_pool(pool) || spec->provider != (enum pool_provider)pool->provider) {
        step_refuse(step, REASON_WRONG_STATE, "without a provider of its nodes")->pool = pool->id;
        return VERDICT_CONFLICT;
    }
    if (pool->life.phase != PHASE_OPEN) {
        return decide_life_refuse(step, pool);
    }
    if (!spec_limits_pool(spec, &limit, &max)) {
        return step_refuse_limit(step, limit, max);
    }
    for (uint32_t i = 0; i < step->in->scale.remove_count; i++) {
        if (!may_leave(step, pool, step->in->scale.remove[i])) {
            return VERDICT_CONFLICT;
        }
    }
    struct pool_spec before;
    query_pool_spec(step->core, pool->id, step->out->arena, &before);
    if (!object_equal(&pool_object, &before, spec)) {
        struct fact *fact = step_fact(step, FACT_POOL_SET);
        fact->pool_set.pool = pool->id;
        fact->pool_set.spec = spec;
    }
    for (uint32_t i = 0; i < step->in->scale.remove_count; i++) {
        node_leave(step, step->in->scale.remove[i], "a user named the node");
    }
    return shrink(step, pool->id);
}
