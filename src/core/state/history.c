/* history.c - rows of what the accounts of a pool have used of it, and when its next tick comes (apply_history.c has the tick).
 * SPDX-License-Identifier: Apache-2.0 */
#include "core/state/history.h"

#include "base/must.h"
#include "core/model/decay.h"
#include "core/model/oindex.h"
#include "core/model/table.h"
#include "core/state/change.h"
#include "core/state/key.h"
#include "core/state/query.h"
#include "core/state/state.h"

#include <string.h>

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
uint64_t history_row_next(const struct table *table, pool_id pool, uint64_t key)
{
    const uint64_t next = table_next(table, key);
    return next >> 32 == pool.v ? next : 0;
}

void history_drop(struct core *core, struct pool *pool)
{
    uint64_t key;
    while ((key = history_row_next(&core->histories, pool->id,
                                   ACCOUNT_KEY(pool->id, (account_id){0}))) != 0) {
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
