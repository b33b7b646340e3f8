/* oracle_floor.c - a guarantee shields the work that fits it (P4, P6).
 *
 * Judged are passes with one decision only: where tasks take several times in one pass, the sums
 * after the pass say nothing about a single decision.
 * SPDX-License-Identifier: Apache-2.0 */
#include "oracle.h"

#include "law.h"

#include "core/model/form.h"
#include "core/model/shape.h"

/* The eviction by reclaim from which the pass took its claimant; NULL: none, or there are several
 * claimants or other promises. */
static const struct eviction *only_taking(const struct facts *facts)
{
    const struct eviction *first = NULL;
    for (size_t i = 0; i < facts->count; i++) {
        const struct fact *fact = &facts->at[i];
        if (fact->type != FACT_EVICTED) {
            continue;
        }
        const struct eviction *why = &fact->evicted.why;
        const bool reclaim = why->rule == EVICT_SHARE || why->rule == EVICT_GUARANTEE;
        if (first != NULL && first->claimant.v != why->claimant.v) {
            return NULL;
        }
        if (why->rule != EVICT_CONSOLIDATE && !reclaim) {
            return NULL;
        }
        first = reclaim ? why : first;
    }
    return first;
}

static bool evicted(const struct facts *facts, task_id task)
{
    for (size_t i = 0; i < facts->count; i++) {
        const struct fact *fact = &facts->at[i];
        if (fact->type == FACT_EVICTED && fact->evicted.key.task.v == task.v) {
            return true;
        }
    }
    return false;
}

/* True when the pass promises places to tasks that were not evicted, beside the claimant, or
 * promises the claimant its places in several decisions. */
static bool others_promised(const struct core *core, const struct facts *facts, task_id claimant)
{
    const struct task *taker = query_task(core, claimant);
    uint32_t own = 0;
    for (size_t i = 0; i < facts->count; i++) {
        const struct fact *fact = &facts->at[i];
        const bool claim = fact->type == FACT_CLAIMED || fact->type == FACT_CLAIM_DROPPED;
        const task_id task =
            fact->type == FACT_CLAIMED ? fact->allocated.key.task : fact->claim_dropped.task;
        if (claim && task.v != claimant.v && !evicted(facts, task)) {
            return true;
        }
        own += fact->type == FACT_CLAIMED && task.v == claimant.v;
    }
    return own > 1 && !(taker->gang && taker->min_count == taker->instance_count);
}

static bool moved(const struct facts *facts, task_id task, uint32_t index)
{
    for (size_t i = 0; i < facts->count; i++) {
        const struct fact *fact = &facts->at[i];
        if (fact->type == FACT_CLAIMED && fact->allocated.key.task.v == task.v &&
            fact->allocated.key.index == index) {
            return true;
        }
    }
    return false;
}

/* How many instances the task needs together to run again, once all leaving instances have left;
 * 0: not judged, because groups of the task have minimums. */
static uint32_t needed(const struct core *core, const struct task *task)
{
    uint32_t stay = 0;
    for (uint32_t i = 0; i < task->instance_count; i++) {
        const struct instance *instance = query_instance(core, task->id, i);
        stay += instance->state == INSTANCE_STARTING || instance->state == INSTANCE_RUNNING ||
                instance->state == INSTANCE_ENDED ||
                query_instance_claim(core, task->id, i) != NULL;
    }
    if (shape_form(query_task_shape(core, task->shape)) != NULL) {
        return 0;
    }
    return task->gang && stay < task->min_count ? task->min_count - stay : 1;
}

/* True if the account, with `count` instances of the task more, is within its guarantee in all
 * dimensions. */
static bool fits_guarantee(const struct ledger *ledger, account_id account, const struct task *task,
                           uint32_t index, uint32_t count)
{
    const struct core *core = ledger->core;
    const struct instance *instance = query_instance(core, task->id, index);
    struct quota quota;
    struct vector one = {{0}};
    struct vector sum = ledger_held_later(ledger, account, task->pool)->held;
    query_quota(core, account, task->pool, &quota);
    if (count > 0) {
        query_dim_grant(core, query_instance_request(core, instance), instance->slots_milli,
                        instance->cpu_milli, instance->memory_bytes, &one);
    }
    for (uint32_t dim = 0; dim < QUOTA_DIMS_MAX; dim++) {
        const int64_t promised = quota.guaranteed.at[dim];
        if (promised != QUOTA_UNLIMITED && sum.at[dim] + one.at[dim] * (int64_t)count > promised) {
            return false;
        }
    }
    return true;
}

void oracle_floors(struct ledger *ledger, const struct core *core, const struct facts *facts)
{
    const struct eviction *why = only_taking(facts);
    if (why == NULL || others_promised(core, facts, why->claimant)) {
        return;
    }
    const struct task *claimant = query_task(core, why->claimant);
    ledger_take(ledger, core);
    for (size_t i = 0; i < facts->count; i++) {
        const struct fact *fact = &facts->at[i];
        if (fact->type != FACT_EVICTED || fact->evicted.why.rule == EVICT_CONSOLIDATE) {
            continue;
        }
        const struct attempt_key *key = &fact->evicted.key;
        const struct eviction *own = &fact->evicted.why;
        const struct task *task = query_task(core, key->task);
        const uint32_t count = needed(core, task);
        if (count == 0 || moved(facts, key->task, key->index) ||
            fits_guarantee(ledger, own->taker.account, claimant, 0, 0)) {
            continue;
        }
        law(!fits_guarantee(ledger, own->victim.account, task, key->index, count),
            "P4: who takes beyond its guarantee takes nothing that fits the payer's guarantee");
    }
}
