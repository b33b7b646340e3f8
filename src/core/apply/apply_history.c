/* apply_history.c - what the accounts of a pool have used of it, the longer ago the less: means that every tick brings up to date.
 *
 * A tick is a fact, so every replay has the same ones, and shares that look back change only then (P6). It takes a sample: since the
 * last one each account has held what it holds now. Ticks come while something runs; over a time without any nothing was held, and
 * the next tick (a pass asks for it before it divides anything) counts that time as idle.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core/state/change.h"

#include "base/must.h"
#include "core/model/decay.h"

enum { PERIOD_PARTS = 128, PERIOD_MS_MIN = 1000, PERIOD_MS_MAX = 60000 };

int64_t history_period_ms(const struct pool *pool)
{
    const int64_t half = pool->history_half_life_ms;
    const int64_t window = pool->history_window_ms;
    const int64_t scale = half > 0 && (window == 0 || half < window) ? half : window;
    const int64_t period_ms = scale / PERIOD_PARTS;
    return period_ms < PERIOD_MS_MIN   ? PERIOD_MS_MIN
           : period_ms > PERIOD_MS_MAX ? PERIOD_MS_MAX
                                       : period_ms;
}

void history_next(struct core *core, struct pool *pool, int64_t next_ms)
{
    struct oindex *order = &core->orders[ORDER_DEADLINE];
    struct okey old = {{(uint64_t)pool->history_next_ms, DEADLINE_HISTORY, pool->id.v, 0}};
    struct okey new = {{(uint64_t)next_ms, DEADLINE_HISTORY, pool->id.v, 0}};
    must(pool->history_next_ms == 0 || oindex_remove(order, old));
    must(next_ms == 0 || oindex_insert(order, new));
    pool->history_next_ms = next_ms;
}

void history_start(struct core *core, pool_id id, int64_t now_ms)
{
    const struct pool *found = query_pool(core, id);
    if (found == NULL || !history_looks_back(found) || found->history_next_ms != 0) {
        return;
    }
    struct pool *pool = change_pool_edit(core, id);
    pool->history_at_ms = pool->history_at_ms == 0 ? now_ms : pool->history_at_ms;
    history_next(core, pool, now_ms + history_period_ms(pool));
}

/* The next row of the pool behind `key`; 0: none. */
static uint64_t row_next(const struct table *table, pool_id pool, uint64_t key)
{
    const uint64_t next = table_next(table, key);
    return next >> 32 == pool.v ? next : 0;
}

void history_drop(struct core *core, struct pool *pool)
{
    uint64_t key;
    while ((key = row_next(&core->histories, pool->id, ACCOUNT_KEY(pool->id, (account_id){0}))) !=
           0) {
        table_remove(&core->histories, key);
    }
    history_next(core, pool, 0);
    pool->history_at_ms = 0;
    memset(pool->history_whole, 0, sizeof pool->history_whole);
}

void history_account_drop(struct core *core, account_id account)
{
    for (uint64_t pool = table_next(&core->pools, 0); pool != 0;
         pool = table_next(&core->pools, pool)) {
        const uint64_t key = ACCOUNT_KEY((pool_id){(uint32_t)pool}, account);
        if (table_get(&core->histories, key) != NULL) {
            table_remove(&core->histories, key);
        }
    }
}

/* ---- a tick ---- */

/* What of the past still counts; a window that is over is forgotten. */
static uint64_t initial_counts(const struct pool *pool, int64_t now_ms)
{
    const int64_t since_ms = pool->history_at_ms;
    const int64_t window_ms = pool->history_window_ms;
    const int64_t begin_ms = window_ms > 0 ? now_ms / window_ms * window_ms : 0;
    if (since_ms < begin_ms) {
        return 0;
    }
    return pool->history_half_life_ms > 0
               ? decay_half(now_ms - since_ms, pool->history_half_life_ms)
               : decay_plain(since_ms - begin_ms, now_ms - since_ms);
}

static void whole_mean(struct pool *pool, uint64_t d)
{
    for (uint32_t dim = 0; dim < HISTORY_DIMS; dim++) {
        decay_mean(&pool->history_whole[dim], vector_sum_shown(&pool->usable[dim]), d);
    }
}

/* False: nothing is left of it. */
static bool row_mean(const struct core *core, uint64_t key, bool idle, uint64_t d,
                     struct history_row *row)
{
    const struct usage_row *usage = idle ? NULL : table_get(&core->usages, key);
    bool some = false;
    for (uint32_t dim = 0; dim < HISTORY_DIMS; dim++) {
        const int64_t held = usage == NULL ? 0 : vector_sum_shown(&usage->allocated[dim]);
        decay_mean(&row->mean[dim], held, d);
        some |= row->mean[dim].low != 0 || row->mean[dim].high != 0;
    }
    return some;
}

static void rows_mean(struct core *core, pool_id pool, bool idle, uint64_t d)
{
    uint64_t key = ACCOUNT_KEY(pool, (account_id){0});
    while (!idle && (key = row_next(&core->usages, pool, key)) != 0) {
        if (table_get(&core->histories, key) == NULL) {
            (void)table_put(&core->histories, key);
        }
    }
    key = ACCOUNT_KEY(pool, (account_id){0});
    while ((key = row_next(&core->histories, pool, key)) != 0) {
        if (!row_mean(core, key, idle, d, table_edit(&core->histories, key))) {
            table_remove(&core->histories, key);
        }
    }
}

void apply_history_ticked(struct core *core, const struct fact *fact)
{
    struct pool *pool = change_pool_edit(core, fact->history_ticked.pool);
    must(history_looks_back(pool));
    must(pool->history_at_ms > 0);
    const uint64_t d = initial_counts(pool, fact->time_ms);
    const bool idle = pool->history_next_ms == 0;
    whole_mean(pool, d);
    rows_mean(core, pool->id, idle, d);
    pool->history_at_ms = fact->time_ms;
    const bool runs = pool->running_count > 0;
    history_next(core, pool, runs ? fact->time_ms + history_period_ms(pool) : 0);
    if (pool->pending_count > 0) {
        change_pool_due(core, pool->id);
    }
}

/* ---- reading ---- */

bool history_looks_back(const struct pool *pool)
{
    return pool->history_half_life_ms > 0 || pool->history_window_ms > 0;
}

bool history_stale(const struct pool *pool, int64_t now_ms)
{
    return history_looks_back(pool) && pool->history_at_ms > 0 && pool->history_next_ms == 0 &&
           pool->pending_count > 0 && now_ms - pool->history_at_ms >= history_period_ms(pool);
}

uint32_t history_used(const struct core *core, account_id account, pool_id id, uint32_t dim)
{
    const struct pool *pool = query_pool(core, id);
    const struct history_row *row = table_get(&core->histories, ACCOUNT_KEY(id, account));
    if (pool == NULL || row == NULL || dim >= HISTORY_DIMS) {
        return 0;
    }
    return decay_part(&row->mean[dim], &pool->history_whole[dim], HISTORY_FULL);
}
