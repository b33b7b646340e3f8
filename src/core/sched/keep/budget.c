/* budget.c - see budget.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core/sched/keep/budget.h"

#include "base/checked.h"
#include "base/must.h"
#include "core/model/bucket.h"
#include "core/model/instance.h"
#include "core/model/limits.h"
#include "core/model/vector.h"
#include "core/sched/order/view.h"
#include "core/state/query.h"

#define DAY_MS ((int64_t)24 * 60 * 60 * 1000)

/* ---- levels ---- */

/* The pool's capacity in slots (thousandths). In a pool without slots each node counts as one slot. */
static int64_t capacity(const struct pool *pool)
{
    const int64_t slots = (int64_t)pool->usable[DIM_SLOTS].low;
    return slots > 0 ? slots : (int64_t)pool->node_count * SLOT_MILLI;
}

static int64_t fill(const struct pool *pool, uint32_t percent_milli)
{
    return i64_mul_div(capacity(pool), percent_milli, PERCENT_WHOLE);
}

int64_t budget_most(const struct pool *pool)
{
    return bucket_times(fill(pool, pool->idle_for_waiting), DAY_MS);
}

/* The level of a budget that gets `most` in a day. A full budget stays full when the pool grows. */
static int64_t level_of(const struct bucket *bucket, int64_t most, int64_t now_ms)
{
    if (bucket->since_ms == 0) {
        return most;
    }
    const int64_t level = bucket_level(bucket, now_ms);
    return level >= bucket->most && level < most ? most : level;
}

int64_t budget_level(const struct pool *pool, int64_t now_ms)
{
    return level_of(&pool->idle, budget_most(pool), now_ms);
}

static int64_t loss_most(const struct pool *pool)
{
    return bucket_times(fill(pool, pool->loss_for_sharing), DAY_MS);
}

int64_t budget_loss_level(const struct pool *pool, int64_t now_ms)
{
    return level_of(&pool->loss, loss_most(pool), now_ms);
}

int64_t budget_fills_ms(const struct pool *pool, int64_t level, int64_t wanted, int64_t now_ms)
{
    return bucket_reaches_ms(level, fill(pool, pool->idle_for_waiting), wanted, now_ms);
}

struct budget_look budget_look_idle(const struct pool *pool, int64_t now_ms)
{
    const int64_t get = fill(pool, pool->idle_for_waiting);
    const int64_t level = budget_level(pool, now_ms);
    const int64_t day = budget_most(pool);
    const int64_t most = pool->idle.most > day ? pool->idle.most : day;
    const bool full = pool->idle.since_ms == 0 || (level >= most && pool->idle.rate >= 0);
    return (struct budget_look){.level = level,
                                .most = most,
                                .fill = get,
                                .pays = full || pool->idle.rate > get ? 0 : get - pool->idle.rate};
}

struct budget_look budget_look_loss(const struct pool *pool, int64_t now_ms)
{
    return (struct budget_look){.level = budget_loss_level(pool, now_ms),
                                .most = loss_most(pool),
                                .fill = fill(pool, pool->loss_for_sharing)};
}

/* ---- costs ---- */

static const struct keep *keep_of(const struct trial *trial, uint32_t spot, uint32_t holder)
{
    const struct spot *at = trial->overlay.spots[spot];
    return at != NULL && at->keep != NULL && at->keep->at == holder ? at->keep : NULL;
}

bool budget_keeps(const struct trial *trial, uint32_t holder)
{
    for (uint32_t i = 0; i < trial->overlay.spot_room; i++) {
        if (keep_of(trial, i, holder) != NULL) {
            return true;
        }
    }
    return false;
}

/* The largest part of the pool that one of these amounts is, in slots. */
static int64_t in_slots(const struct pool *pool, const int64_t amounts[3])
{
    int64_t most = 0;
    for (uint32_t dim = DIM_SLOTS; dim <= DIM_MEMORY; dim++) {
        const int64_t total = dim == DIM_MEMORY ? (int64_t)pool->usable[dim].low / KEEP_MEMORY_UNIT
                                                : (int64_t)pool->usable[dim].low;
        const int64_t part =
            amounts[dim] <= 0 || total <= 0 ? 0 : i64_mul_div(amounts[dim], capacity(pool), total);
        most = part > most ? part : most;
    }
    return most;
}

int64_t budget_drain(const struct trial *trial, uint32_t holder)
{
    const struct pool *pool = query_pool(trial->core, trial->pool);
    const int64_t now_ms = trial->overlay.now_ms;
    int64_t start_ms = now_ms;
    for (uint32_t i = 0; i < trial->overlay.spot_room; i++) {
        const struct keep *keep = keep_of(trial, i, holder);
        start_ms = keep != NULL && keep->ready_ms > start_ms ? keep->ready_ms : start_ms;
    }
    int64_t sum = 0;
    for (uint32_t i = 0; i < trial->overlay.spot_room; i++) {
        const struct keep *keep = keep_of(trial, i, holder);
        if (keep == NULL) {
            continue;
        }
        const int64_t whole = bucket_times(in_slots(pool, keep->planned), start_ms - now_ms);
        const int64_t idle = bucket_plus(whole, -(in_slots(pool, keep->busy)));
        sum = idle > 0 ? bucket_plus(sum, idle) : sum;
    }
    return sum;
}

int64_t budget_lost(const struct trial *trial, const struct instance *instance)
{
    const struct pool *pool = query_pool(trial->core, trial->pool);
    const int64_t held[3] = {instance->slots_milli, instance->cpu_milli,
                             instance->memory_bytes / KEEP_MEMORY_UNIT};
    const int64_t past_ms = trial->overlay.now_ms - instance_unsaved_ms(instance);
    return past_ms > 0 ? bucket_times(in_slots(pool, held), past_ms) : 0;
}

bool budget_affords(const struct trial *trial, int64_t cost, bool young)
{
    const struct pool *pool = query_pool(trial->core, trial->pool);
    const int64_t level = budget_loss_level(pool, trial->overlay.now_ms);
    return pool->turn_ms == 0 || bucket_plus(trial->lost, cost) <= level ||
           (young && trial->lost == 0 && level >= loss_most(pool));
}

/* What is idle now on kept nodes, in slots: free, and not left to others beside the holders. Places of the holder `unpaid` do not count. */
static int64_t idle_now(const struct trial *trial, const struct task *unpaid)
{
    int64_t sum[3] = {0};
    for (uint32_t i = 0; i < trial->overlay.spot_room; i++) {
        const struct spot *spot = trial->overlay.spots[i];
        if (spot == NULL || spot->keep == NULL ||
            trial->overlay.holders[spot->keep->at].task == unpaid) {
            continue;
        }
        const struct space *free = &spot->place;
        const struct space *left = &spot->keep->left;
        const int64_t kept[3] = {free->slots_free - left->slots_free,
                                 free->cpu_free - left->cpu_free,
                                 (free->memory_free - left->memory_free) / KEEP_MEMORY_UNIT};
        for (uint32_t dim = 0; dim < 3; dim++) {
            const int64_t has = dim == DIM_SLOTS ? free->slots_free
                                : dim == DIM_CPU ? free->cpu_free
                                                 : free->memory_free / KEEP_MEMORY_UNIT;
            const int64_t idle = kept[dim] < has ? kept[dim] : has;
            sum[dim] = idle > 0 ? bucket_plus(sum[dim], idle) : sum[dim];
        }
    }
    return in_slots(query_pool(trial->core, trial->pool), sum);
}

/* ---- facts ---- */

int64_t budget_settle(const struct hold *hold, bool stopped, const struct input *in,
                      struct facts *out)
{
    const struct pool *pool = hold->pool;
    const struct trial *trial = hold->trial;
    const int64_t now_ms = hold->now_ms;
    const int64_t get = fill(pool, pool->idle_for_waiting);
    const int64_t pay = hold->denied && hold->count > 0 ? idle_now(trial, hold_free(hold)) : 0;
    const int64_t most = stopped && pool->idle.since_ms != 0 ? pool->idle.most
                         : hold->most > 0                    ? hold->most
                                                             : budget_most(pool);
    const int64_t level = budget_level(pool, now_ms);
    const struct bucket idle = {.level = level < most ? level : most,
                                .rate = stopped ? pool->idle.rate : bucket_plus(get, -pay),
                                .most = most};
    const bool used = pool->idle.since_ms != 0;
    const bool full = idle.level >= idle.most && idle.rate >= 0;
    const bool idle_changed =
        !stopped && !full &&
        (!used || idle.rate != pool->idle.rate || idle.most != pool->idle.most);
    if (idle_changed || trial->lost > 0) {
        struct fact *fact = fact_list_add(out, in, FACT_BUDGETS);
        fact->budgets.pool = pool->id;
        fact->budgets.idle = idle;
        fact->budgets.loss =
            (struct bucket){.level = bucket_plus(budget_loss_level(pool, now_ms), -(trial->lost)),
                            .rate = fill(pool, pool->loss_for_sharing),
                            .most = loss_most(pool)};
    }
    return idle.rate < 0 ? bucket_reaches_ms(idle.level, idle.rate, 0, now_ms) : INT64_MAX;
}
