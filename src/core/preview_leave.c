/* preview_leave.c - which machines a change would end later: once their nodes have no work. The state right after the change says which
 * nodes leave; the deadlines that end them have not come yet.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/must.h"
#include "core/model/instance.h"
#include "core/model/launch.h"
#include "core/model/leave.h"
#include "core/model/node.h"
#include "core/model/pool.h"
#include "core/preview_internal.h"
#include "core/state/elastic.h"

enum way { WAY_STAYS, WAY_GOES, WAY_REPLACED };

/* What becomes of the machine as soon as its node has no work. */
static enum way way_of(const struct core *core, launch_id id)
{
    const struct launch *launch = query_launch(core, id);
    if (launch == NULL || launch->state == LAUNCH_ENDING) {
        return WAY_STAYS;
    }
    if (launch->leave != LEAVE_NOT) {
        return launch->leave == LEAVE_SCALED ? WAY_GOES : WAY_REPLACED;
    }
    const struct pool *pool = query_pool(core, launch->pool);
    const bool open = pool == NULL || pool->life.phase == PHASE_OPEN;
    const bool turn = pool != NULL && pool->replacement.at_once != 0 && !launch->locked &&
                      id.v > pool->replacement.cursor.v && id.v <= pool->replacement.upto.v;
    return !open ? WAY_GOES : turn ? WAY_REPLACED : WAY_STAYS;
}

/* Nodes of the pool that are locked, and so stay. */
static uint32_t locked_count(const struct core *core, pool_id pool)
{
    uint32_t count = 0;
    for (const struct launch *launch = query_launch_next(core, (launch_id){0}); launch != NULL;
         launch = query_launch_next(core, launch->id)) {
        count += launch->pool.v == pool.v && launch->locked && launch->state != LAUNCH_ENDING;
    }
    return count;
}

/* Nodes above the maximum of an open pool. Which of them go is not known: those that have no work first. */
static uint32_t above(const struct core *core, pool_id id)
{
    const struct pool *pool = query_pool(core, id);
    if (pool == NULL || pool->life.phase != PHASE_OPEN || !elastic_pool(pool) ||
        pool->launch_live <= elastic_max(pool)) {
        return 0;
    }
    const uint32_t most = pool->launch_live - elastic_max(pool);
    const uint32_t free = pool->launch_live - locked_count(core, id);
    return most < free ? most : free;
}

/* Notes the tasks of a node that are told to stop later: at `at_ms`, or for 0 when the node is
 * replaced. */
static void stops_note(struct preview *preview, node_id node, enum busy busy, int64_t at_ms,
                       int64_t now_ms)
{
    if (busy != BUSY_REQUEUE && busy != BUSY_KILL) {
        return;
    }
    const struct preview_stop as = {
        .cause = busy == BUSY_KILL ? END_KILLED : END_PREEMPTED, .later = true, .at_ms = at_ms};
    struct attempt_key cursor = {0};
    const struct instance *instance;
    while ((instance = query_node_instance_next(preview->after, node, &cursor)) != NULL) {
        if (instance->state != INSTANCE_STOPPING) {
            preview_stop_note(preview, instance, &as, now_ms);
        }
    }
}

/* Notes the tasks of nodes to whose drain the change gives a deadline, or another deadline than
 * before. */
static void deadlines_note(struct preview *preview, int64_t now_ms)
{
    for (const struct node *node = query_node_next(preview->after, (node_id){0}); node != NULL;
         node = query_node_next(preview->after, node->id)) {
        const struct node *was = query_node(preview->before, node->id);
        if (node->drain_by_ms != 0 && (was == NULL || was->drain_by_ms != node->drain_by_ms)) {
            stops_note(preview, node->id, (enum busy)node->drain_busy, node->drain_by_ms, now_ms);
        }
    }
}

void preview_leave(struct preview *preview, int64_t now_ms)
{
    const struct core *after = preview->after;
    deadlines_note(preview, now_ms);
    for (const struct launch *launch = query_launch_next(after, (launch_id){0}); launch != NULL;
         launch = query_launch_next(after, launch->id)) {
        const enum way way = way_of(after, launch->id);
        if (way != WAY_STAYS && way_of(preview->before, launch->id) == WAY_STAYS) {
            const struct preview_machine_end end = {launch->pool, launch->node, true,
                                                    way == WAY_REPLACED};
            preview_launch_end_note(preview, end);
            if (way == WAY_REPLACED && launch->leave == LEAVE_NOT) {
                const struct pool *pool = query_pool(after, launch->pool);
                must(pool != NULL);
                stops_note(preview, launch->node, (enum busy)pool->replacement.busy, 0, now_ms);
            }
        }
    }
    for (const struct pool *pool = query_pool_next(after, (pool_id){0}); pool != NULL;
         pool = query_pool_next(after, pool->id)) {
        const uint32_t now = above(after, pool->id);
        for (uint32_t i = now > 0 ? above(preview->before, pool->id) : 0; i < now; i++) {
            preview_launch_end_note(preview,
                                    (struct preview_machine_end){.pool = pool->id, .later = true});
        }
    }
}
