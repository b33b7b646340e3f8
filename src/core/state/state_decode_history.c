/* state_decode_history.c - what was used before, out of bytes. Pools and accounts ascend; a 0 ends them.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/bytes.h"
#include "core/model/pool.h"
#include "core/model/table.h"
#include "core/model/vector.h"
#include "core/state/change.h"
#include "core/state/history.h"
#include "core/state/key.h"
#include "core/state/query.h"
#include "core/state/state.h"
#include "core/state/state_codec.h"
#include "core/state/state_decode.h"

/* No mean of amounts is larger (model/decay.h). */
#define MEAN_HIGH_MAX ((uint64_t)1 << 12)

/* False: all are 0. */
static bool means_get(struct decode *d, struct sum *ret)
{
    bool some = false;
    for (uint32_t dim = 0; dim < HISTORY_DIMS; dim++) {
        ret[dim].high = (int64_t)bytes_get_max(&d->in, MEAN_HIGH_MAX - 1);
        ret[dim].low = bytes_get_u64(&d->in);
        some |= ret[dim].high != 0 || ret[dim].low != 0;
    }
    return some;
}

static bool rows_get(struct decode *d, pool_id pool, const struct lasts *lasts)
{
    uint64_t before = 0;
    uint64_t id;
    while ((id = bytes_get_max(&d->in, lasts->accounts)) != 0) {
        const account_id account = {(uint32_t)id};
        if (id <= before || query_account(d->core, account) == NULL) {
            return false;
        }
        struct history_row *row = table_put(&d->core->histories, ACCOUNT_KEY(pool, account));
        if (!means_get(d, row->mean)) {
            return false;
        }
        before = id;
    }
    return !d->in.bad;
}

static bool pool_get(struct decode *d, uint64_t id, const struct lasts *lasts)
{
    const struct pool *found = query_pool(d->core, (pool_id){(uint32_t)id});
    if (found == NULL || !history_looks_back(found)) {
        return false;
    }
    struct pool *pool = change_pool_edit(d->core, found->id);
    pool->history_at_ms = state_decode_time(d);
    const int64_t next_ms = state_decode_time(d);
    (void)means_get(d, pool->history_whole);
    if (d->in.bad || pool->history_at_ms == 0 || pool->history_at_ms > d->core->time_ms) {
        return false;
    }
    history_next(d->core, pool, next_ms);
    return rows_get(d, pool->id, lasts);
}

bool state_decode_history(struct decode *d, const struct lasts *lasts)
{
    uint64_t before = 0;
    uint64_t id;
    if (d->version < STATE_VERSION_HISTORY) {
        return true;
    }
    while ((id = bytes_get_max(&d->in, lasts->pools)) != 0) {
        if (id <= before || !pool_get(d, id, lasts)) {
            return false;
        }
        before = id;
    }
    for (const struct pool *pool = query_pool_next(d->core, (pool_id){0}); pool != NULL;
         pool = query_pool_next(d->core, pool->id)) {
        if (history_looks_back(pool) && pool->running_count > 0 && pool->history_next_ms == 0) {
            return false; /* ticks come while something runs */
        }
    }
    return !d->in.bad;
}
