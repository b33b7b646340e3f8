/* oracle_budget.c - see oracle_budget.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "oracle_budget.h"

#include "law.h"
#include "oracle.h"

#include "core/model/limits.h"
#include "core/model/shape.h"

#define DAY_MS ((int64_t)24 * 60 * 60 * 1000)
#define MEMORY_UNIT ((int64_t)1 << 20)

/* For work that is at most so many turns old the loss budget may go into debt. */
enum { DEBT_TURNS = 2 };

void oracle_budgets_init(struct oracle_budgets *budgets)
{
    *budgets = (struct oracle_budgets){0};
}

void oracle_budgets_done(struct oracle_budgets *budgets)
{
    vec_done(&budgets->pools);
}

static int64_t capacity(const struct pool *pool)
{
    const int64_t slots = (int64_t)pool->usable[DIM_SLOTS].low;
    return slots > 0 ? slots : (int64_t)pool->node_count * SLOT_MILLI;
}

static int64_t fill(const struct pool *pool, uint32_t part)
{
    return (int64_t)((__int128)capacity(pool) * part / PERCENT_WHOLE);
}

/* ---- time ---- */

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static void pool_advance(struct oracle_budget *at, const struct pool *pool, int64_t now_ms)
{
    const int64_t idle_fill = fill(pool, pool->idle_for_waiting);
    const int64_t loss_fill = fill(pool, pool->loss_for_sharing);
    const int64_t past_ms = now_ms - at->at_ms;
    /* A task whose cost is higher than what a day gives raises the most that the idle budget saves up. */
    const int64_t idle_most =
        idle_fill * DAY_MS > pool->idle.most ? idle_fill * DAY_MS : pool->idle.most;
    if (at->at_ms == 0 || idle_fill != at->idle_fill || loss_fill != at->loss_fill) {
        *at = (struct oracle_budget){.idle_fill = idle_fill,
                                     .idle = idle_most,
                                     .loss_fill = loss_fill,
                                     .loss = loss_fill * DAY_MS};
    } else {
        at->idle = least(at->idle + (at->idle_fill - at->idle_pay) * past_ms, idle_most);
        at->loss = least(at->loss + at->loss_fill * past_ms, loss_fill * DAY_MS);
    }
    at->at_ms = now_ms;
}

/* ---- losses ---- */

static bool vector_within(const struct vector *held, const struct quota *quota, uint32_t dims)
{
    for (uint32_t dim = 0; dim < dims; dim++) {
        if (quota->guaranteed.at[dim] != QUOTA_UNLIMITED &&
            held->at[dim] > quota->guaranteed.at[dim]) {
            return false;
        }
    }
    return true;
}

static bool within_guarantee(const struct ledger *ledger, account_id account, pool_id pool)
{
    struct quota quota;
    query_quota(ledger->core, account, pool, &quota);
    return vector_within(&ledger_held_later(ledger, account, pool)->held, &quota,
                         query_dim_count(ledger->core));
}

/* Does the pass decide for one claimant alone? Where it decides more, the sums after the pass say nothing about a single decision. */
static const struct eviction *only_decision(const struct core *core, const struct facts *facts)
{
    const struct eviction *only = NULL;
    bool lower = true; /* all victims have a lower priority: a priority may ask for them */
    for (size_t i = 0; i < facts->count; i++) {
        const struct fact *fact = &facts->at[i];
        if (fact->type == FACT_ALLOCATED) {
            return NULL;
        }
        if (fact->type != FACT_EVICTED) {
            continue;
        }
        const struct eviction *why = &fact->evicted.why;
        const bool paid = why->rule == EVICT_SHARE || why->rule == EVICT_CONSOLIDATE;
        if (!paid || (only != NULL && only->claimant.v != why->claimant.v)) {
            return NULL;
        }
        only = only == NULL || why->rule == EVICT_SHARE ? why : only;
        lower = lower && query_task(core, fact->evicted.key.task)->priority <
                             query_task(core, why->claimant)->priority;
    }
    return lower ? NULL : only;
}

/* The part of the pool that the instance holds, in slots. */
static int64_t held_slots(const struct pool *pool, const struct instance *instance)
{
    const int64_t held[3] = {instance->slots_milli, instance->cpu_milli,
                             instance->memory_bytes / MEMORY_UNIT};
    int64_t most = 0;
    for (uint32_t dim = DIM_SLOTS; dim <= DIM_MEMORY; dim++) {
        const int64_t all = (int64_t)pool->usable[dim].low / (dim == DIM_MEMORY ? MEMORY_UNIT : 1);
        const int64_t part =
            all <= 0 || held[dim] <= 0 ? 0 : (int64_t)((__int128)held[dim] * capacity(pool) / all);
        most = part > most ? part : most;
    }
    return most;
}

static void losses_check(struct oracle_budgets *budgets, struct ledger *ledger,
                         const struct pool *pool, const struct facts *facts)
{
    const struct core *core = ledger->core;
    struct oracle_budget *at = &budgets->pools.at[pool->id.v];
    const struct eviction *why = pool->turn_ms > 0 ? only_decision(core, facts) : NULL;
    if (why == NULL) {
        return;
    }
    const struct request *request =
        &query_task_shape(core, query_task(core, why->claimant)->shape)->request;
    if (request->cpu_milli < 0 || request->memory_bytes < 0) {
        return; /* what the claimant gets depends on the node, so the guarantee was asked with less */
    }
    ledger_take(ledger, core);
    if (within_guarantee(ledger, query_task(core, why->claimant)->account, pool->id) ||
        (why->taker.account.v != 0 && within_guarantee(ledger, why->taker.account, pool->id))) {
        return; /* a guarantee asks for it */
    }
    int64_t cost = 0;
    bool young = true;
    for (size_t i = 0; i < facts->count; i++) {
        if (facts->at[i].type == FACT_EVICTED) {
            const struct attempt_key *key = &facts->at[i].evicted.key;
            const struct instance *instance = query_instance(core, key->task, key->index);
            const int64_t saved_ms =
                instance->checkpoint_ms > 0 ? instance->checkpoint_ms : instance->allocated_ms;
            cost += held_slots(pool, instance) * (at->at_ms - saved_ms);
            young = young && at->at_ms - saved_ms <= DEBT_TURNS * pool->turn_ms;
        }
    }
    const bool full = at->loss >= at->loss_fill * DAY_MS;
    law(cost <= 0 || cost <= at->loss || (full && young),
        "the loss budget pays, or goes from full into debt by one decision");
    at->loss -= cost;
    budgets->judged += cost > 0;
}

void oracle_budgets_step(struct oracle_budgets *budgets, struct ledger *ledger,
                         const struct core *core, const struct input *in, const struct facts *facts)
{
    ledger->core = core;
    for (const struct pool *pool = query_pool_next(core, (pool_id){0}); pool != NULL;
         pool = query_pool_next(core, pool->id)) {
        while (budgets->pools.count <= pool->id.v) {
            vec_push(&budgets->pools, (struct oracle_budget){0});
        }
        struct oracle_budget *at = &budgets->pools.at[pool->id.v];
        at->at_ms = in->type == INPUT_SERVER_START ? 0 : at->at_ms; /* the budgets stood still */
        pool_advance(at, pool, in->now_ms);
        if (in->type == INPUT_PASS && in->pass.pool.v == pool->id.v) {
            at->idle_pay = 0;
            losses_check(budgets, ledger, pool, facts);
        }
    }
}

/* ---- kept places ---- */

void oracle_budgets_rest(struct oracle_budgets *budgets, const struct ledger *ledger, pool_id id,
                         int64_t now_ms)
{
    const struct pool *pool = query_pool(ledger->core, id);
    if (pool == NULL || !pool_starts(pool) || id.v >= budgets->pools.count) {
        return;
    }
    struct oracle_budget *at = &budgets->pools.at[id.v];
    for (uint32_t i = 0; at->idle <= 0 && i < pool->reserved_count; i++) {
        law(pool->reserved[i].until_ms != 0 && !pool_by_length(pool),
            "the idle budget is spent: no place is kept without a known start");
    }
    at->idle_pay = oracle_kept_idle(ledger, id, now_ms);
    budgets->paying += at->idle_pay > 0;
}
