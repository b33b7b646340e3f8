/* runtime.c - minimum runtime and preemption delay.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core/sched/order/runtime.h"

#include "base/checked.h"
#include "base/must.h"
#include "core/model/spec.h"

#include <stddef.h>

int64_t runtime_min_preempt_ms(const struct account_view *victim, int64_t pool_ms)
{
    must(pool_ms >= 0);
    for (const struct account_view *account = victim; account != NULL; account = account->parent) {
        if (account->preempt_min_runtime_ms >= 0) {
            return account->preempt_min_runtime_ms;
        }
    }
    return pool_ms;
}

int64_t runtime_min_reclaim_ms(enum reclaim_protection protection,
                               const struct account_view *claimant,
                               const struct account_view *victim, int64_t pool_ms)
{
    must(pool_ms >= 0);
    const struct account_view *first = victim;
    if (protection == RECLAIM_PROTECTION_LCA) {
        const struct account_view *other;
        account_diverge(claimant, victim, &other, &first);
    }
    for (const struct account_view *account = first; account != NULL; account = account->parent) {
        if (account->reclaim_min_runtime_ms >= 0) {
            return account->reclaim_min_runtime_ms;
        }
    }
    return pool_ms;
}

bool runtime_protected(int64_t started_ms, int64_t min_ms, int64_t now_ms)
{
    must(min_ms >= 0);
    const int64_t ran_ms = i64_sub(now_ms, started_ms);
    return ran_ms <= 0 || ran_ms < min_ms;
}

int64_t runtime_delay_ms(const struct task *task, const struct pool *pool)
{
    return task->preemption_delay_ms != PREEMPTION_DELAY_POOL ? task->preemption_delay_ms
                                                              : pool->preemption_delay_ms;
}

int64_t runtime_evict_from_ms(int64_t submitted_ms, int64_t evicted_ms, int64_t delay_ms)
{
    must(delay_ms >= 0);
    return i64_add(evicted_ms > submitted_ms ? evicted_ms : submitted_ms, delay_ms);
}
