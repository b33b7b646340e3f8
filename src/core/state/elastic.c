/* elastic.c - see elastic.h.
 *
 * A node may go when the pool has more nodes than its minimum, no launch is on its way, and the free slots without the
 * node cover the headroom. Then the node that has had no work for longest goes first.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core/state/elastic.h"

#include "base/must.h"
#include "core/model/blob.h"
#include "core/model/limits.h"
#include "core/model/oindex.h"
#include "core/model/spec.h"
#include "core/model/table.h"
#include "core/state/change.h"
#include "core/state/key.h"
#include "core/state/query.h"
#include "core/state/state.h"

#include <string.h>

/* After a failed launch the pool waits before it asks again, each time twice as long. */
enum { RETRY_MS = 5 * 1000, RETRY_DOUBLINGS_MAX = 7 };

bool elastic_pool(const struct pool *pool)
{
    return pool->provider != POOL_STATIC;
}

void elastic_flavor(const struct pool *pool, struct node *ret)
{
    const int64_t slots = (int64_t)pool->node_slots * SLOT_MILLI;
    *ret = (struct node){
        .id = {UINT32_MAX}, /* no node that has joined */
        .pool = pool->id,
        .state = NODE_UP,
        .aux_max = pool->aux_tasks,
        .slots_milli = slots,
        .slots_free = slots,
        .cpu_milli = pool->node_cpu_milli,
        .cpu_free = pool->node_cpu_milli,
        .memory_bytes = pool->node_memory_bytes,
        .memory_free = pool->node_memory_bytes,
        .device_count = pool->node_gpus,
    };
    for (uint32_t i = 0; i < pool->node_gpus; i++) {
        ret->device_free[i] = SLOT_MILLI;
    }
}

bool elastic_node_number(const char *pool, const char *node, uint64_t *ret)
{
    const size_t len = strlen(pool);
    if (strncmp(node, pool, len) != 0 || node[len] != '-') {
        return false;
    }
    const char *digit = node + len + 1;
    uint64_t number = 0;
    for (; *digit >= '0' && *digit <= '9' && number <= UINT32_MAX; digit++) {
        number = number * 10 + (uint64_t)(*digit - '0');
    }
    *ret = number;
    return *digit == '\0' && number > 0;
}

/* ---- launches ---- */

static bool is_live(const struct launch *launch)
{
    return launch->id.v != 0 && launch->state != LAUNCH_ENDING;
}

static bool is_starting(const struct launch *launch)
{
    return is_live(launch) && launch->node.v == 0;
}

static void order_update(struct oindex *order, bool was, struct okey old, bool is, struct okey new)
{
    if (was && is && oindex_key_compare(old, new) == 0) {
        return;
    }
    must(!was || oindex_remove(order, old));
    must(!is || oindex_insert(order, new));
}

static bool is_awaited(const struct launch *launch)
{
    return is_starting(launch) && launch->join_by_ms != 0;
}

static struct okey join_key(const struct launch *launch)
{
    return (struct okey){{(uint64_t)launch->join_by_ms, DEADLINE_JOIN, launch->id.v, 0}};
}

static bool is_idle(const struct launch *launch)
{
    return is_live(launch) && launch->idle_ms != 0;
}

static struct okey idle_key(const struct launch *launch)
{
    return (struct okey){{launch->pool.v, (uint64_t)launch->idle_ms, launch->id.v, 0}};
}

void elastic_launch_close(struct core *core, const struct launch *before,
                          const struct launch *after)
{
    const pool_id id = after->id.v != 0 ? after->pool : before->pool;
    struct pool *pool = change_pool_edit(core, id);
    pool->launch_count += (uint32_t)(after->id.v != 0) - (uint32_t)(before->id.v != 0);
    pool->launch_live += (uint32_t)is_live(after) - (uint32_t)is_live(before);
    pool->launch_starting += (uint32_t)is_starting(after) - (uint32_t)is_starting(before);
    order_update(&core->orders[ORDER_DEADLINE], is_awaited(before), join_key(before),
                 is_awaited(after), join_key(after));
    order_update(&core->orders[ORDER_LAUNCH_IDLE], is_idle(before), idle_key(before),
                 is_idle(after), idle_key(after));
    if (elastic_pool(pool) && before->node.v != after->node.v) {
        if (before->node.v != 0) {
            ((struct node *)table_edit(&core->nodes, before->node.v))->launch.v = 0;
        }
        if (after->node.v != 0) {
            ((struct node *)table_edit(&core->nodes, after->node.v))->launch = after->id;
        }
    }
    elastic_shrink_update(core, id);
}

/* ---- nodes without work ---- */

static bool has_work(const struct node *node)
{
    return node->instance_count > 0 || node->claim_count > 0;
}

void elastic_node_close(struct core *core, const struct node *node, const struct node *before)
{
    if (before->id.v != 0 && before->pool.v != node->pool.v) {
        elastic_shrink_update(core, before->pool);
    }
    if (node->launch.v == 0 || has_work(node) == has_work(before)) {
        /* A removed node may be of a deleted pool, whose row stays. */
        if (elastic_pool(table_get(&core->pools, node->pool.v))) {
            elastic_shrink_update(core, node->pool);
        }
        return;
    }
    struct launch *launch = table_edit(&core->launches, node->launch.v);
    must(launch != NULL);
    const struct launch old = *launch;
    launch->idle_ms = has_work(node) ? 0 : core->time_ms;
    elastic_launch_close(core, &old, launch);
}

/* ---- when a node may go ---- */

/* The launch of the pool whose node has had no work for longest; NULL: all have work. */
static const struct launch *idle_first(const struct core *core, const struct pool *pool)
{
    struct okey key;
    if (!oindex_from(&core->orders[ORDER_LAUNCH_IDLE], (struct okey){{pool->id.v, 0, 0, 0}},
                     &key) ||
        key.at[0] != pool->id.v) {
        return NULL;
    }
    return query_launch(core, (launch_id){key.at[2]});
}

const struct launch *elastic_shrink_first(const struct core *core, const struct pool *pool)
{
    if (!elastic_pool(pool) || pool->deleted || pool->launch_live <= pool->nodes_min) {
        return NULL;
    }
    const struct launch *launch = idle_first(core, pool);
    if (launch == NULL || pool->launch_live > pool->nodes_max) {
        return launch;
    }
    const struct node *node = query_node(core, launch->node);
    must(node != NULL);
    const int64_t usable = node_takes_work(node) ? node->slots_milli : 0;
    const int64_t headroom = (int64_t)pool->headroom * SLOT_MILLI;
    return pool->launch_starting == 0 && pool->slots_free - usable >= headroom ? launch : NULL;
}

void elastic_shrink_update(struct core *core, pool_id id)
{
    struct pool *pool = change_pool_edit(core, id);
    const struct launch *first = elastic_shrink_first(core, pool);
    const bool over = pool->launch_live > pool->nodes_max;
    const int64_t at_ms = first == NULL ? 0 : first->idle_ms + (over ? 0 : pool->node_idle_ms);
    order_update(&core->orders[ORDER_DEADLINE], pool->shrink_ms != 0,
                 (struct okey){{(uint64_t)pool->shrink_ms, DEADLINE_SHRINK, id.v, 0}}, at_ms != 0,
                 (struct okey){{(uint64_t)at_ms, DEADLINE_SHRINK, id.v, 0}});
    pool->shrink_ms = at_ms;
}

/* ---- words and failures ---- */

static void refusal_set(struct pool *pool, const char *words)
{
    blob_unref(pool->refusal);
    pool->refusal = words[0] != '\0' ? blob_new(words, strlen(words) + 1) : NULL;
}

void elastic_words(struct core *core, pool_id id, const char *before, const char *after)
{
    struct pool *pool = change_pool_edit(core, id);
    if (strcmp(before, after) != 0 &&
        (after[0] != '\0' || strcmp(query_pool_refusal(pool), before) == 0)) {
        refusal_set(pool, after);
    }
}

void elastic_failed(struct core *core, pool_id id, int64_t now_ms, const char *words)
{
    struct pool *pool = change_pool_edit(core, id);
    const uint32_t doublings =
        pool->launch_failures < RETRY_DOUBLINGS_MAX ? pool->launch_failures : RETRY_DOUBLINGS_MAX;
    pool->launch_failures += pool->launch_failures < UINT32_MAX;
    pool->launch_retry_ms = now_ms + ((int64_t)RETRY_MS << doublings);
    refusal_set(pool, words);
    change_pool_due(core, id);
}

void elastic_joined(struct core *core, pool_id id)
{
    struct pool *pool = change_pool_edit(core, id);
    pool->launch_failures = 0;
    pool->launch_retry_ms = 0;
    refusal_set(pool, "");
}
