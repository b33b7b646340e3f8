/* elastic.c - see elastic.h.
 *
 * A node may go when the pool has more nodes than its minimum, no launch is on its way, and the free slots without the
 * node cover the headroom. Then the node that has had no work for longest goes first. Above the maximum machines on their
 * way go too; a node that has work never goes.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core/state/elastic.h"

#include "base/must.h"
#include "core/model/blob.h"
#include "core/model/leave.h"
#include "core/model/limits.h"
#include "core/model/oindex.h"
#include "core/model/spec.h"
#include "core/model/table.h"
#include "core/state/change.h"
#include "core/state/key.h"
#include "core/state/life.h"
#include "core/state/query.h"
#include "core/state/soldout.h"
#include "core/state/state.h"

#include <string.h>

/* After a failed launch the pool waits before it asks again, each time twice as long. */
enum { RETRY_MS = 5 * 1000, RETRY_DOUBLINGS_MAX = 7 };

/* A node may have less memory than its pool promises by one part of so many. */
enum { MEMORY_KEPT = 8 };
/* A node that has just joined has no work before the next pass. */
enum { IDLE_MS_MIN = 20 };

bool elastic_pool(const struct pool *pool)
{
    return pool->provider != POOL_STATIC;
}

uint32_t elastic_min(const struct pool *pool)
{
    return pool->life.phase == PHASE_OPEN ? pool->nodes_min : 0;
}

uint32_t elastic_max(const struct pool *pool)
{
    return pool->life.phase == PHASE_OPEN ? pool->nodes_max : 0;
}

void elastic_flavor(const struct pool *pool, struct node *ret)
{
    const uint32_t most = pool_slots_most(pool);
    const int64_t slots = (int64_t)pool_node_slots(pool) * SLOT_MILLI;
    const uint32_t devices = pool->node_gpus < most ? pool->node_gpus : most;
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
        .device_count = devices,
    };
    for (uint32_t i = 0; i < devices; i++) {
        ret->device_free[i] = SLOT_MILLI;
    }
}

uint32_t elastic_nodes_to_come(const struct pool *pool)
{
    const uint32_t more =
        pool->nodes_max > pool->launch_live ? pool->nodes_max - pool->launch_live : 0;
    return elastic_pool(pool) ? more + pool->launch_starting : 0;
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
    return launch->id.v != 0 && launch->state != LAUNCH_ENDING && launch->leave == LEAVE_NOT;
}

static bool is_leaving(const struct launch *launch)
{
    return launch->id.v != 0 && launch->state != LAUNCH_ENDING && launch->leave != LEAVE_NOT;
}

static bool is_starting(const struct launch *launch)
{
    return is_live(launch) && launch->node.v == 0;
}

static bool is_asked(const struct launch *launch)
{
    return launch->id.v != 0 && launch->state == LAUNCH_ASKED;
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

/* Machines that the provider has not brought up come first, then the newest. */
static struct okey starting_key(const struct launch *launch)
{
    return (struct okey){
        {launch->pool.v, launch->state == LAUNCH_RUNNING, ~launch->id.v, launch->id.v}};
}

static bool is_idle(const struct launch *launch)
{
    return is_live(launch) && launch->idle_ms != 0 && !launch->locked && !launch->spare;
}

/* The node has no work and leaves: its machine may end. */
static bool is_left(const struct launch *launch)
{
    return is_leaving(launch) && launch->idle_ms != 0;
}

static struct okey left_key(const struct launch *launch)
{
    return (struct okey){{(uint64_t)launch->idle_ms, DEADLINE_LEAVE, launch->id.v, 0}};
}

static struct okey idle_key(const struct launch *launch)
{
    return (struct okey){{launch->pool.v, (uint64_t)launch->idle_ms, launch->id.v, 0}};
}

/* The node is out of service and counts in the size of the pool. */
static bool is_unfit(const struct launch *launch)
{
    return is_live(launch) && launch->unfit_ms != 0 && !launch->locked;
}

static struct okey unfit_key(const struct launch *launch)
{
    return (struct okey){
        {(uint64_t)(launch->unfit_ms + NODE_UNFIT_MS), DEADLINE_UNFIT, launch->id.v, 0}};
}

/* ---- rows of removed nodes ---- */

static bool is_forgotten(const struct node *node)
{
    return node->id.v != 0 && node->state == NODE_REMOVED && node->provided && node->launch.v == 0;
}

static struct okey forget_key(const struct node *node)
{
    return (struct okey){
        {(uint64_t)(node->removed_ms + NODE_FORGET_MS), DEADLINE_FORGET, node->id.v, 0}};
}

static void forget_update(struct core *core, const struct node *before, const struct node *node)
{
    order_update(&core->orders[ORDER_DEADLINE], is_forgotten(before), forget_key(before),
                 is_forgotten(node), forget_key(node));
}

static void link_set(struct core *core, node_id id, launch_id launch)
{
    struct node *node = table_edit(&core->nodes, id.v);
    const struct node before = *node;
    node->launch = launch;
    node->provided |= launch.v != 0;
    forget_update(core, &before, node);
}

void elastic_node_forget(struct core *core, node_id id)
{
    const struct node *node = table_get(&core->nodes, id.v);
    must(node != NULL);
    must(is_forgotten(node));
    forget_update(core, node, &(struct node){0});
    table_remove(&core->nodes, id.v);
}

void elastic_launch_close(struct core *core, const struct launch *before,
                          const struct launch *after)
{
    const pool_id id = after->id.v != 0 ? after->pool : before->pool;
    struct pool *pool = change_pool_edit(core, id);
    pool->launch_count += (uint32_t)(after->id.v != 0) - (uint32_t)(before->id.v != 0);
    pool->launch_live += (uint32_t)is_live(after) - (uint32_t)is_live(before);
    pool->launch_starting += (uint32_t)is_starting(after) - (uint32_t)is_starting(before);
    pool->surplus = pool->launch_starting > 0 ? pool->surplus : 0;
    pool->launch_asked += (uint32_t)is_asked(after) - (uint32_t)is_asked(before);
    pool->launch_leaving += (uint32_t)is_leaving(after) - (uint32_t)is_leaving(before);
    order_update(&core->orders[ORDER_DEADLINE], is_left(before), left_key(before), is_left(after),
                 left_key(after));
    order_update(&core->orders[ORDER_DEADLINE], is_unfit(before), unfit_key(before),
                 is_unfit(after), unfit_key(after));
    order_update(&core->orders[ORDER_DEADLINE], is_awaited(before), join_key(before),
                 is_awaited(after), join_key(after));
    order_update(&core->orders[ORDER_LAUNCH_STARTING], is_starting(before), starting_key(before),
                 is_starting(after), starting_key(after));
    order_update(&core->orders[ORDER_LAUNCH_IDLE], is_idle(before), idle_key(before),
                 is_idle(after), idle_key(after));
    if (elastic_pool(pool) && before->node.v != after->node.v) {
        if (before->node.v != 0) {
            link_set(core, before->node, (launch_id){0});
        }
        if (after->node.v != 0) {
            link_set(core, after->node, after->id);
        }
    }
    elastic_shrink_update(core, id);
    life_update(core, id);
    elastic_replace_update(core, id);
}

/* ---- nodes without work ---- */

static bool has_work(const struct node *node)
{
    return node->instance_count > 0 || node->claim_count > 0;
}

static bool is_due(const struct node *node)
{
    return node->id.v != 0 && node->state != NODE_REMOVED && node->drain_by_ms != 0;
}

static struct okey drain_key(const struct node *node)
{
    return (struct okey){{(uint64_t)node->drain_by_ms, DEADLINE_DRAIN, node->id.v, 0}};
}

void elastic_node_close(struct core *core, const struct node *node, const struct node *before)
{
    order_update(&core->orders[ORDER_DEADLINE], is_due(before), drain_key(before), is_due(node),
                 drain_key(node));
    forget_update(core, before, node);
    if (before->id.v != 0 && before->pool.v != node->pool.v) {
        elastic_shrink_update(core, before->pool);
    }
    if (node->launch.v == 0 ||
        (has_work(node) == has_work(before) && node->troubled == before->troubled &&
         node->spare == before->spare)) {
        /* A removed node may be of a deleted pool, whose row stays. */
        if (elastic_pool(table_get(&core->pools, node->pool.v))) {
            elastic_shrink_update(core, node->pool);
        }
        return;
    }
    struct launch *launch = table_edit(&core->launches, node->launch.v);
    must(launch != NULL);
    const struct launch old = *launch;
    if (has_work(node) != has_work(before)) {
        launch->idle_ms = has_work(node) ? 0 : core->time_ms;
    }
    launch->spare = node->spare;
    if (node->troubled != before->troubled) {
        launch->unfit_ms = node->troubled ? core->time_ms : 0;
    }
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

/* The launch of the pool that goes first of those whose agents have not joined; NULL: all have joined. */
static const struct launch *starting_first(const struct core *core, const struct pool *pool)
{
    struct okey key;
    if (pool->launch_starting == 0) {
        return NULL;
    }
    must(oindex_from(&core->orders[ORDER_LAUNCH_STARTING], (struct okey){{pool->id.v, 0, 0, 0}},
                     &key));
    must(key.at[0] == pool->id.v);
    return query_launch(core, (launch_id){key.at[3]});
}

/* The launch that goes first where the pool is above its maximum. */
static const struct launch *surplus_first(const struct core *core, const struct pool *pool)
{
    const struct launch *starting = starting_first(core, pool);
    const struct launch *idle = idle_first(core, pool);
    const bool up = starting == NULL || starting->state == LAUNCH_RUNNING;
    return up && idle != NULL ? idle : starting;
}

const struct launch *elastic_shrink_first(const struct core *core, const struct pool *pool)
{
    if (!elastic_pool(pool) || pool->deleted || pool->launch_live <= elastic_min(pool)) {
        return NULL;
    }
    if (pool->launch_live > elastic_max(pool)) {
        return surplus_first(core, pool);
    }
    const struct launch *launch = idle_first(core, pool);
    if (launch == NULL) {
        return NULL;
    }
    const struct node *node = query_node(core, launch->node);
    must(node != NULL);
    const int64_t usable = node_takes_work(node) ? node_slots_able(node) : 0;
    const int64_t headroom = pool_node_slots(pool) > 0 ? (int64_t)pool->headroom * SLOT_MILLI : 0;
    /* The node is about to be spare. A pool that is not open is above its maximum, or has no nodes. */
    const bool spare = pool->spare_count < pool->spare_nodes;
    return pool->launch_starting == 0 && !spare && pool->slots_free - usable >= headroom ? launch
                                                                                         : NULL;
}

void elastic_shrink_update(struct core *core, pool_id id)
{
    struct pool *pool = change_pool_edit(core, id);
    const struct launch *first = elastic_shrink_first(core, pool);
    const bool over = pool->launch_live > elastic_max(pool);
    const int64_t idle_ms = pool->node_idle_ms > IDLE_MS_MIN ? pool->node_idle_ms : IDLE_MS_MIN;
    const int64_t since_ms = first == NULL         ? 0
                             : first->idle_ms != 0 ? first->idle_ms
                                                   : first->asked_ms;
    const int64_t at_ms = first == NULL ? 0 : since_ms + (over ? 0 : idle_ms);
    order_update(&core->orders[ORDER_DEADLINE], pool->shrink_ms != 0,
                 (struct okey){{(uint64_t)pool->shrink_ms, DEADLINE_SHRINK, id.v, 0}}, at_ms != 0,
                 (struct okey){{(uint64_t)at_ms, DEADLINE_SHRINK, id.v, 0}});
    pool->shrink_ms = at_ms;
}

/* ---- replacement ---- */

bool elastic_replaces(const struct pool *pool)
{
    const struct replacement *row = &pool->replacement;
    const uint32_t going = pool->launch_count - pool->launch_live;
    const uint32_t coming = pool->launch_starting;
    const uint32_t moving = going > coming ? going : coming;
    if (row->at_once == 0 || pool->deleted || pool->sold_wait_ms != 0) {
        return false; /* or the flavor is sold out: a node that leaves would not come back */
    }
    const bool whole = pool->launch_live >= pool->nodes_min;
    return pool->launch_failures > 0 ||
           (whole && (row->cursor.v < row->upto.v ? moving < row->at_once : moving == 0));
}

void elastic_replace_update(struct core *core, pool_id id)
{
    const struct pool *row = table_get(&core->pools, id.v);
    const int64_t at_ms = elastic_replaces(row) ? row->replacement.since_ms : 0;
    if (at_ms == row->replace_ms) {
        return;
    }
    struct pool *pool = change_pool_edit(core, id);
    order_update(&core->orders[ORDER_DEADLINE], pool->replace_ms != 0,
                 (struct okey){{(uint64_t)pool->replace_ms, DEADLINE_REPLACE, id.v, 0}}, at_ms != 0,
                 (struct okey){{(uint64_t)at_ms, DEADLINE_REPLACE, id.v, 0}});
    pool->replace_ms = at_ms;
}

/* ---- what a node must have ---- */

const char *elastic_short(const struct pool *pool, const struct node *node)
{
    struct node promised;
    elastic_flavor(pool, &promised);
    /* The system of a machine keeps a part of its memory. */
    const int64_t memory = promised.memory_bytes - promised.memory_bytes / MEMORY_KEPT;
    if (node->slots_milli < promised.slots_milli) {
        return "its node has fewer slots than the pool promises";
    }
    if (node->device_count < promised.device_count) {
        return "its node has fewer GPUs than the pool promises";
    }
    if (node->cpu_milli < promised.cpu_milli) {
        return "its node has fewer cores than the pool promises";
    }
    return node->memory_bytes < memory ? "its node has less memory than the pool promises" : NULL;
}

/* ---- words and failures ---- */

void elastic_refusal_set(struct core *core, pool_id id, const char *words)
{
    struct pool *pool = change_pool_edit(core, id);
    blob_unref(pool->refusal);
    pool->refusal = words[0] != '\0' ? blob_new(words, strlen(words) + 1) : NULL;
}

void elastic_words(struct core *core, pool_id id, const char *before, const char *after)
{
    const struct pool *pool = query_pool(core, id);
    if (strcmp(before, after) != 0 &&
        (after[0] != '\0' || strcmp(query_pool_refusal(pool), before) == 0)) {
        elastic_refusal_set(core, id, after);
    }
}

static int64_t retry_after_ms(uint32_t failures)
{
    const uint32_t doublings = failures < RETRY_DOUBLINGS_MAX ? failures : RETRY_DOUBLINGS_MAX;
    return (int64_t)RETRY_MS << doublings;
}

int64_t elastic_failed_ms(const struct pool *pool)
{
    return pool->launch_failures == 0
               ? 0
               : pool->launch_retry_ms - retry_after_ms(pool->launch_failures - 1);
}

void elastic_failed(struct core *core, const struct launch *launch, int64_t now_ms,
                    const char *words)
{
    struct pool *pool = change_pool_edit(core, launch->pool);
    if (pool->launch_failures == 0 || launch->asked_ms > elastic_failed_ms(pool)) {
        pool->launch_retry_ms = now_ms + retry_after_ms(pool->launch_failures);
        pool->launch_failures += pool->launch_failures < UINT32_MAX;
    }
    elastic_refusal_set(core, launch->pool, words);
    life_update(core, launch->pool);
    change_pool_due(core, launch->pool);
    if (pool->flavor.v != 0) {
        soldout_next_due(core, pool->flavor); /* another pool may ask meanwhile */
    }
    elastic_replace_update(core, launch->pool);
}

void elastic_joined(struct core *core, pool_id id)
{
    struct pool *pool = change_pool_edit(core, id);
    pool->launch_failures = 0;
    pool->launch_retry_ms = 0;
    elastic_refusal_set(core, id, "");
    life_update(core, id);
    elastic_replace_update(core, id);
}
