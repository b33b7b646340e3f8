/* explain_time.c - from which moment, or with which priority, a waiting task may evict others.
 *
 * The search for victims itself is asked, at later moments. After the longest minimum runtime no running task is protected any more;
 * if the search finds nothing then, time does not help. Between now and that moment the search is asked at the moments at which a
 * protection ends, and half-way, until the first moment is known. If the budget ends first, the named moment is too late, never too
 * early.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core/sched/explain/explain_time.h"

#include "base/arena.h"
#include "base/checked.h"
#include "base/must.h"
#include "core/model/limits.h"
#include "core/sched/explain/explain_internal.h"
#include "core/sched/order/runtime.h"
#include "core/sched/order/shares.h"
#include "core/sched/take/action.h"
#include "core/state/query.h"

/* Budgets: work of one explanation, work of one of its searches, number of its searches. The budgets are small, because a list of
 * tasks explains hundreds of tasks. */
enum { EXPLAIN_WORK_MAX = 10000, EXPLAIN_SEARCH_MAX = 4000, EXPLAIN_SEARCHES_MAX = 24 };

struct wait_times {
    struct trial *trial;
    const struct task *task;
    uint64_t work;
    uint32_t searches;
};

bool explain_time_for_room(enum reason_code code)
{
    return code == REASON_NO_ROOM || code == REASON_DEVICES_BUSY || code == REASON_AUX_FULL ||
           code == REASON_GANG_SHORT || code == REASON_TOPOLOGY || code == REASON_NOT_FOUND;
}

/* Would the task get its places by an action at `now_ms`? */
static bool found_at(struct wait_times *times, int64_t now_ms, int64_t *ret_wake_ms)
{
    times->searches++;
    return action_would(times->trial, times->task, now_ms, EXPLAIN_SEARCH_MAX, &times->work,
                        ret_wake_ms);
}

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* For how long a running task is protected from eviction at most: the longest minimum runtime of the pool and of its accounts, or a turn
 * of the pool if turns are longer. */
static int64_t protection_max_ms(const struct trial *trial, const struct pool *pool)
{
    const struct shares *shares = trial->tally.shares;
    int64_t most = larger(pool->preempt_min_runtime_ms, pool->reclaim_min_runtime_ms);
    if (pool->policy == POLICY_FAIR_SHARE) {
        most = larger(most, pool->turn_ms);
    }
    for (uint32_t i = 0; i < shares->count; i++) {
        most = larger(most, shares->views[i].preempt_min_runtime_ms);
        most = larger(most, shares->views[i].reclaim_min_runtime_ms);
    }
    return most;
}

/* The first moment between `from_ms` and `end_ms` at which the search finds victims; 0: the search finds none at `end_ms`. */
static int64_t found_first(struct wait_times *times, int64_t from_ms, int64_t end_ms)
{
    int64_t wake_ms;
    int64_t low_ms = from_ms;  /* the search finds nothing before this moment */
    int64_t high_ms = end_ms;  /* the search finds victims at this moment */
    must(times->searches > 0); /* the search found nothing at the first moment */
    if (!found_at(times, high_ms, &wake_ms)) {
        return 0;
    }
    while (low_ms < high_ms && times->searches < EXPLAIN_SEARCHES_MAX &&
           times->work < EXPLAIN_WORK_MAX) {
        const bool halve = times->searches % 2 != 0;
        const int64_t at_ms = halve ? low_ms + (high_ms - low_ms) / 2 : low_ms;
        if (found_at(times, at_ms, &wake_ms)) {
            high_ms = at_ms;
        } else {
            low_ms = larger(at_ms + 1, wake_ms < high_ms ? wake_ms : high_ms);
        }
    }
    return high_ms;
}

static void reason_until(struct reason *reason, enum reason_code code, int64_t until_ms)
{
    if (reason->code != REASON_NO_ROOM && reason->code != REASON_GANG_SHORT) {
        reason->wanted = 0; /* the amounts belong to the reason that is replaced */
        reason->available = 0;
        reason->smallest = -1;
    }
    reason->code = code;
    reason->until_ms = until_ms;
}

void explain_time(struct trial *trial, const struct task *task, struct reason *reason)
{
    struct wait_times times = {.trial = trial, .task = task};
    const struct pool *pool = query_pool(trial->core, task->pool);
    const int64_t now_ms = query_time_ms(trial->core);
    const int64_t due_ms =
        runtime_evict_from_ms(task->submitted_ms, task->evicted_ms, runtime_delay_ms(task, pool));
    const int64_t from_ms = larger(now_ms, due_ms);
    const int64_t protection_ms = protection_max_ms(trial, pool);
    int64_t wake_ms;
    must(task->pool.v == trial->pool.v);
    if (!explain_time_for_room(reason->code) || (from_ms == now_ms && protection_ms <= 0)) {
        return;
    }
    if (found_at(&times, from_ms, &wake_ms)) {
        if (from_ms > now_ms) {
            reason_until(reason, REASON_PREEMPTION_DELAY, from_ms);
        }
        return;
    }
    if (wake_ms == INT64_MAX) {
        return; /* no piece is protected, so time does not help */
    }
    const int64_t until_ms = found_first(&times, wake_ms, i64_add(from_ms, protection_ms));
    if (until_ms != 0) {
        reason_until(reason, REASON_MIN_RUNTIME, until_ms);
    }
}

/* 0 where another task of the pool holds, or would hold at once: another priority may change which task holds, and what starts then is
 * not known. */
uint32_t explain_time_priority(const struct core *core, task_id id)
{
    const struct task *task = query_task(core, id);
    if (task == NULL || !task->queued || task->priority >= PRIORITY_MAX) {
        return 0;
    }
    struct arena arena;
    struct trial trial;
    struct wait_times times = {.trial = &trial, .task = task};
    struct task raised = *task;
    int64_t wake_ms;
    arena_init(&arena);
    trial_init(&trial, core, task->pool, &arena);
    raised.priority++;
    must(raised.priority <= PRIORITY_MAX);
    const struct pool *pool = query_pool(core, task->pool);
    const bool alone =
        pool->pending_count == 1 || (pool->reserved_count == 0 && pool->patience_ms > 0);
    bool helps = alone && !found_at(&times, query_time_ms(core), &wake_ms);
    times.task = &raised;
    bool any = false;
    helps = helps && found_at(&times, query_time_ms(core), &wake_ms) &&
            explain_held_quota(&trial, &raised, &any) == NULL && !any;
    trial_done(&trial);
    arena_done(&arena);
    return helps ? raised.priority : 0;
}
