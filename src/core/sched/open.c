/* open.c - see open.h.
 *
 * A pool has no capacity for a task that waits when the pass is over, unless nodes of the pool are on their way and a
 * node of that kind can run the task: the task waits for them until the provider fails. A closed or paused pool has no capacity.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core/sched/open.h"

#include "base/must.h"
#include "core/model/fit.h"
#include "core/model/node.h"
#include "core/model/oindex.h"
#include "core/model/pool.h"
#include "core/model/space.h"
#include "core/sched/grow.h"
#include "core/sched/spare.h"
#include "core/state/fallback.h"
#include "core/state/key.h"
#include "core/state/query.h"

/* The pool asks for no nodes. */
static void pools_open(struct trial *trial, const struct input *in, struct facts *out)
{
    const struct core *core = trial->core;
    const struct oindex *order = &core->orders[ORDER_FALLBACK];
    const uint64_t pool = trial->pool.v;
    struct okey key = {{pool, 0, 0, 0}};
    if (oindex_count(order) == 0 || !oindex_from(order, key, &key) || key.at[0] != pool) {
        return;
    }
    struct grow_cover cover;
    grow_cover_init(trial, out->arena, &cover);
    bool more = true;
    for (uint32_t i = 0; i < OPEN_MAX && more && key.at[0] == pool; i++) {
        const task_id id = {key.at[1]};
        const struct task *task = query_task_in(core, trial->pool, id);
        const struct fallback *list = fallback_of(core, task);
        const uint32_t next = fallback_next(core, list);
        must(next < list->count);
        if (!grow_covers(&cover, core, task)) {
            struct fact *fact = fact_list_add(out, in, FACT_POOL_OPENED);
            fact->pool_opened.task = id;
            fact->pool_opened.pool = list->pools[next];
            fact->pool_opened.why = FALLBACK_NO_CAPACITY;
        }
        more = oindex_next(order, key, &key);
    }
}

int64_t open_decide(struct trial *trial, const struct input *in, struct facts *out)
{
    const size_t count = out->count;
    const struct pool *pool = query_pool(trial->core, trial->pool);
    spare_settle(trial->core, pool, in, out);
    if (out->count > count) {
        return 0;
    }
    const int64_t wake_ms = pool_starts(pool) ? grow_decide(trial, in, out) : 0;
    if (out->count == count) {
        pools_open(trial, in, out);
    }
    return wake_ms;
}
