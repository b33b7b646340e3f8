/* change_gang.c - gangs that have lost some of their instances and may become whole again (P2).
 *
 *   whole ─an instance is lost─▶ stale: the others go on, the missing ones wait ─┬─ placed in time ─▶ whole
 *                                                                                └─ grace over ─▶ all are told to stop
 *
 * An elastic gang says by its minimum that instances come and go, so its pool's grace counts for it. One that needs all of its
 * instances is stopped at once, unless its user gave it a grace of its own: who stays cannot work on with a newcomer.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core/change.h"

#include "base/checked.h"
#include "base/must.h"

bool gang_may_wait(const struct task *task)
{
    return task->gang && (task->own_stale_grace || task->min_count < task->instance_count);
}

int64_t gang_grace_ms(const struct core *core, const struct task *task)
{
    if (!gang_may_wait(task)) {
        return 0;
    }
    const struct pool *pool = table_get(&core->pools, task->pool.v);
    must(pool != NULL);
    return task->own_stale_grace ? task->stale_grace_ms : pool->stale_grace_ms;
}

bool gang_broken(const struct task *task)
{
    return task->gang && task->waiting_count > 0 && task->active_count > task->stopping_count &&
           task_grown(task) < task->min_count;
}

bool gang_stale_key(const struct core *core, const struct task *task, struct okey *ret)
{
    const int64_t grace_ms = task->stale_ms > 0 ? gang_grace_ms(core, task) : STALE_GRACE_NEVER;
    if (grace_ms == STALE_GRACE_NEVER) {
        return false;
    }
    *ret =
        (struct okey){{(uint64_t)i64_add(task->stale_ms, grace_ms), DEADLINE_STALE, task->id.v, 0}};
    return true;
}

void gang_stale_update(struct core *core, struct task *task)
{
    if (!gang_may_wait(task) || !gang_broken(task)) {
        task->stale_ms = 0;
    } else if (task->stale_ms == 0) {
        task->stale_ms = core->time_ms > 0 ? core->time_ms : 1;
    }
}

/* Each stale gang of the pool, its deadline taken out (or, with `put`, put in). */
static void deadlines_move(struct core *core, pool_id pool, bool put)
{
    const account_id first = {0};
    struct okey key = {{ACCOUNT_KEY(pool, first), 0, 0, 0}};
    while (oindex_next(&core->orders[ORDER_ACCOUNT_HOLD], key, &key) && key.at[0] >> 32 == pool.v) {
        struct okey stale;
        if (!gang_stale_key(core, core_task(core, (task_id){key.at[3]}), &stale)) {
            continue;
        }
        if (put) {
            must(oindex_insert(&core->orders[ORDER_DEADLINE], stale));
        } else {
            must(oindex_remove(&core->orders[ORDER_DEADLINE], stale));
        }
    }
}

void pool_stale_grace_set(struct core *core, struct pool *pool, int64_t grace_ms)
{
    if (pool->stale_grace_ms != grace_ms) {
        deadlines_move(core, pool->id, false);
        pool->stale_grace_ms = grace_ms;
        deadlines_move(core, pool->id, true);
    }
}
