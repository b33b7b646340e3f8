/* apply_history.c - what the accounts of a pool have used of it, the longer ago the less: means that every tick brings up to date.
 *
 * A tick is a fact, so every replay has the same ones, and shares that look back change only then (P6). It takes a sample: since the
 * last one each account has held what it holds now. Ticks come while something runs; over a time without any nothing was held, and
 * the next tick (a pass asks for it before it divides anything) counts that time as idle.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/must.h"
#include "core/apply/apply.h"
#include "core/model/decay.h"
#include "core/model/pool.h"
#include "core/model/table.h"
#include "core/model/vector.h"
#include "core/state/change.h"
#include "core/state/fact.h"
#include "core/state/history.h"
#include "core/state/key.h"
#include "core/state/state.h"

/* What of the past still counts; a window that is over is forgotten. */
static uint64_t past_kept(const struct pool *pool, int64_t now_ms)
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
    while (!idle && (key = history_row_next(&core->usages, pool, key)) != 0) {
        if (table_get(&core->histories, key) == NULL) {
            (void)table_put(&core->histories, key);
        }
    }
    key = ACCOUNT_KEY(pool, (account_id){0});
    while ((key = history_row_next(&core->histories, pool, key)) != 0) {
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
    const uint64_t d = past_kept(pool, fact->time_ms);
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
