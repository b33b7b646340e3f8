/* decide_life.c - the life cycle of pools: close, delete, restore; what ticks say about their state.
 *
 * The nodes of a provider that have work go when they have no work any more (state/elastic.c: a pool that is not open has a maximum
 * of 0). Nodes that have not joined are ended here.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/arena.h"
#include "base/must.h"
#include "core/decide/decide.h"
#include "core/decide/settle.h"
#include "core/decide/step.h"
#include "core/model/launch.h"
#include "core/model/limits.h"
#include "core/model/names.h"
#include "core/model/node.h"
#include "core/model/oindex.h"
#include "core/model/pool.h"
#include "core/model/reason.h"
#include "core/model/verdict.h"
#include "core/sched/explain/explain_life.h"
#include "core/sched/grow_zone.h"
#include "core/state/elastic.h"
#include "core/state/fact.h"
#include "core/state/key.h"
#include "core/state/life.h"
#include "core/state/query.h"
#include "core/state/state.h"

#include <string.h>

enum verdict decide_life_refuse(struct step *step, const struct pool *pool)
{
    struct reason reason = {.smallest = -1, .pool = pool->id};
    must(explain_life(pool, &reason));
    *step_refuse(step, reason.code, "") = reason;
    return VERDICT_CONFLICT;
}

/* Do tasks go to this pool that name no pool? */
static bool is_default(const struct core *core, const char *name)
{
    for (unsigned i = 0; i < POOL_DEFAULT_COUNT; i++) {
        if (strcmp(query_default_pool(core, (enum pool_default)i), name) == 0) {
            return true;
        }
    }
    return false;
}

/* The pool that the input names. NULL: the input was refused, and `*ret` has the verdict. The pool `default` always is open. */
static const struct pool *pool_of(struct step *step, enum verdict *ret)
{
    const struct pool *pool = query_pool(step->core, step->in->pool.pool);
    if (pool == NULL) {
        *ret = decide_pool_missing(step);
        return NULL;
    }
    const char *name = query_pool_name(step->core, pool->id);
    if (strcmp(name, POOL_DEFAULT_NAME) == 0 && step->in->type != INPUT_POOL_RESTORE) {
        step_refuse(step, REASON_WRONG_STATE, name)->pool = pool->id;
        *ret = VERDICT_CONFLICT;
        return NULL;
    }
    if (step->in->type != INPUT_POOL_RESTORE && is_default(step->core, name)) {
        step_refuse(step, REASON_DEFAULT_POOL, name)->pool = pool->id;
        *ret = VERDICT_CONFLICT;
        return NULL;
    }
    return pool;
}

/* Ends the launches of the pool whose agents have not joined. Looks at all launches: closing a pool is rare. */
static void launches_end(struct step *step, pool_id pool)
{
    launch_id after = {0};
    const struct launch *launch;
    while ((launch = query_launch_next(step->core, after)) != NULL) {
        after = launch->id;
        if (launch->pool.v == pool.v && launch->node.v == 0) {
            decide_launch_end(step, launch, "its pool was closed or deleted");
        }
    }
}

/* Refuses where a user has locked nodes of the pool's provider: these nodes would keep the pool from being empty for ever. Looks
 * at all nodes of the pool: closing a pool is rare. */
static bool locked_refuse(struct step *step, const struct pool *pool)
{
    uint32_t locked = 0;
    const struct node *node = NULL;
    while ((node = query_pool_node_next(step->core, pool->id,
                                        node != NULL ? node->id : (node_id){0})) != NULL) {
        locked += node->locked && node->launch.v != 0;
    }
    if (locked > 0) {
        struct reason *reason = step_refuse(step, REASON_NODES_LOCKED, "");
        reason->pool = pool->id;
        reason->have = locked;
    }
    return locked > 0;
}

/* The next task that holds a place in the pool, behind the key. False: there is none. */
static bool running_next(const struct core *core, pool_id pool, struct okey *key)
{
    return oindex_next(&core->orders[ORDER_ACCOUNT_RUNNING], *key, key) &&
           key->at[0] >> 32 == pool.v;
}

/* Stops the tasks that hold places in the pool. Killed tasks end, others wait. */
static void tasks_stop(struct step *step, pool_id pool, enum end_cause cause)
{
    struct okey key = {{(uint64_t)pool.v << 32, 0, 0, 0}};
    while (running_next(step->core, pool, &key)) {
        const task_id task = {key.at[3]};
        if (cause == END_KILLED) {
            decide_task_end(step, query_task(step->core, task));
        } else if (!query_task(step->core, task)->kill_asked) {
            settle_stop(step, task, cause, true);
        }
    }
}

enum verdict decide_life_close(struct step *step)
{
    enum verdict verdict = VERDICT_OK;
    const struct pool *pool = pool_of(step, &verdict);
    if (pool == NULL) {
        return verdict;
    }
    if (pool->life.phase == PHASE_DELETE) {
        return decide_life_refuse(step, pool);
    }
    if (pool->life.phase == PHASE_OPEN && locked_refuse(step, pool)) {
        return VERDICT_CONFLICT;
    }
    const pool_id id = pool->id;
    const bool kill = step->in->pool.kill;
    if (pool->life.phase == PHASE_OPEN || kill) {
        struct fact *fact = step_fact(step, FACT_POOL_CLOSING);
        fact->pool_closing.pool = id;
        fact->pool_closing.kill = kill;
        launches_end(step, id);
    }
    if (kill) {
        tasks_stop(step, id, END_KILLED);
    }
    return VERDICT_OK;
}

/* Nodes that a provider brought up go by themselves. Other nodes are of agents that somebody started. */
static uint32_t nodes_by_hand(const struct pool *pool)
{
    return elastic_pool(pool) ? 0 : pool->node_count;
}

static enum verdict delete_now(struct step *step, const struct pool *pool)
{
    const uint32_t count = pool->node_count > 0 ? pool->node_count : pool->launch_count;
    if (count > 0) {
        return decide_pool_in_use(step, pool, count);
    }
    step_fact(step, FACT_POOL_DELETED)->pool_deleted.pool = pool->id;
    return VERDICT_OK;
}

enum verdict decide_life_delete(struct step *step)
{
    enum verdict verdict = VERDICT_OK;
    const struct pool *pool = pool_of(step, &verdict);
    if (pool == NULL) {
        return verdict;
    }
    const bool now = step->in->pool.now;
    const bool pending = pool->life.phase == PHASE_DELETE;
    if (pending && !now) {
        return decide_life_refuse(step, pool);
    }
    const uint32_t nodes = now ? pool->node_count : nodes_by_hand(pool);
    if (!pending && !step->in->pool.force && (nodes > 0 || pool->task_count > 0)) {
        verdict = decide_pool_in_use(step, pool, nodes > 0 ? nodes : pool->task_count);
        step->out->refusal.have = nodes == 0 && !now;
        return verdict;
    }
    if (now) {
        return delete_now(step, pool);
    }
    if (locked_refuse(step, pool)) {
        return VERDICT_CONFLICT;
    }
    const pool_id id = pool->id;
    const uint32_t live = pool->launch_live;
    tasks_stop(step, id, END_POOL);
    launches_end(step, id);
    struct fact *fact = step_fact(step, FACT_POOL_PENDING_DELETE);
    fact->pool_pending.pool = id;
    fact->pool_pending.until_ms = step->in->now_ms + POOL_RESTORE_MS;
    fact->pool_pending.nodes = live;
    return VERDICT_OK;
}

/* Asks the provider for as many nodes as the pool had, as far as the pool's maximum allows. A pool with a flavor asks in a zone of
 * the flavor, and behind the pools that wait for the flavor already. */
static void nodes_ask(struct step *step, const struct pool *pool, uint32_t had)
{
    const uint64_t left = LAUNCHES_MAX - step->core->launches.count;
    uint64_t count = had < pool->nodes_max ? had : pool->nodes_max;
    count = count > pool->launch_live ? count - pool->launch_live : 0;
    count = elastic_pool(pool) ? count : 0;
    if (pool->flavor.v != 0) {
        count = count < left ? count : left;
        (void)grow_zone_ask(step_state(step), pool, (uint32_t)count, step->in, step->out);
        return;
    }
    for (uint64_t i = 0; i < count && i < left; i++) {
        struct fact *fact = step_fact(step, FACT_LAUNCH_ASKED);
        fact->launch.launch.v = step->core->launches.last + 1 + i;
        fact->launch.pool = pool->id;
    }
}

enum verdict decide_life_restore(struct step *step)
{
    enum verdict verdict = VERDICT_OK;
    const struct pool *pool = pool_of(step, &verdict);
    if (pool == NULL || pool->life.phase == PHASE_OPEN) {
        return verdict; /* a pool that is open stays open */
    }
    const pool_id id = pool->id;
    const uint32_t had = pool->life.had_nodes;
    step_fact(step, FACT_POOL_RESTORED)->pool_restored.pool = id;
    nodes_ask(step, query_pool(step_state(step), id), had);
    return VERDICT_OK;
}

void decide_life_state(struct step *step, const struct core *core, pool_id id)
{
    const struct pool *pool = query_pool(core, id);
    must(pool != NULL);
    struct pool_standing now;
    life_standing(pool, &now);
    const char *words = now.why == WHY_PROVIDER ? query_pool_refusal(pool) : "";
    words = arena_str(step->out->arena, words);
    struct fact *fact = step_fact(step, FACT_POOL_STATE);
    fact->pool_state.pool = id;
    fact->pool_state.now = now;
    fact->pool_state.words = words;
}

/* Nodes of agents that somebody started are removed with the pool. */
void decide_life_gone(struct step *step, const struct core *core, pool_id id)
{
    const struct node *node;
    must(query_pool(core, id)->launch_count == 0);
    while ((node = query_pool_node_next(step_state(step), id, (node_id){0})) != NULL) {
        const node_id gone = node->id;
        settle_node(step, gone);
        struct fact *fact = step_fact(step, FACT_NODE_STATE);
        fact->node_state.node = gone;
        fact->node_state.state = NODE_REMOVED;
    }
    step_fact(step, FACT_POOL_DELETED)->pool_deleted.pool = id;
}
