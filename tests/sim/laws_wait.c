/* laws_wait.c - see laws_wait.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "laws_wait.h"

#include "core/model/limits.h"
#include "core/model/shape.h"
#include "core/sched/keep/credit.h"
#include "core/sched/place/trial.h"
#include "law.h"
#include "oracle.h"

#define MINUTE_MS ((int64_t)60 * 1000)

void laws_wait_init(struct laws_wait *wait)
{
    *wait = (struct laws_wait){.longest_ms = MINUTE_MS};
}

void laws_wait_done(struct laws_wait *wait)
{
    vec_done(&wait->firsts);
}

void laws_wait_ran(struct laws_wait *wait, int64_t ran_ms)
{
    wait->longest_ms = ran_ms > wait->longest_ms ? ran_ms : wait->longest_ms;
}

/* ---- which tasks are judged ---- */

static bool waits(const struct task *task)
{
    return task->state == TASK_PENDING && task->queued && task->waiting_count > 0 &&
           task->depends_left == 0 && !task->kill_asked && !task->pause_asked &&
           task->pool_next.v == 0 && task->active_count == 0;
}

static bool before(const struct pool *pool, const struct task *a, const struct task *b)
{
    if (pool->policy != POLICY_FIFO && a->priority != b->priority) {
        return a->priority > b->priority;
    }
    return a->rank != b->rank ? a->rank < b->rank : a->id.v < b->id.v;
}

/* Do turns change between projects, if several wait? */
static bool between(const struct pool *pool)
{
    return pool->policy == POLICY_FAIR_SHARE || pool->policy == POLICY_ROUND_ROBIN;
}

static struct laws_first *first_of(struct laws_wait *wait, pool_id pool, account_id account)
{
    for (size_t i = 0; i < wait->firsts.count; i++) {
        struct laws_first *first = &wait->firsts.at[i];
        if (first->pool.v == pool.v && first->account.v == account.v) {
            return first;
        }
    }
    vec_push(&wait->firsts, ((struct laws_first){.pool = pool, .account = account}));
    return &wait->firsts.at[wait->firsts.count - 1];
}

/* The task of the row that comes first now; NULL: none waits. */
static const struct task *first_now(const struct core *core, const struct pool *pool,
                                    account_id account)
{
    const struct task *first = NULL;
    for (const struct task *task = query_task_next(core, (task_id){0}); task != NULL;
         task = query_task_next(core, task->id)) {
        if (task->pool.v == pool->id.v && waits(task) &&
            (account.v == 0 || task->account.v == account.v) &&
            (first == NULL || before(pool, task, first))) {
            first = task;
        }
    }
    return first;
}

static bool department_bounds(const struct core *core, const struct task *task)
{
    struct quota quota;
    for (account_id at = query_account(core, task->account)->parent; at.v != 0;
         at = query_account(core, at)->parent) {
        query_quota(core, at, task->pool, &quota);
        for (uint32_t dim = 0; dim < query_dim_count(core); dim++) {
            if (quota.limit.at[dim] != QUOTA_UNLIMITED) {
                return true;
            }
        }
    }
    return false;
}

/* Is the task within its right, or does it have a turn? */
static bool has_right(const struct core *core, const struct pool *pool, const struct task *task)
{
    struct arena arena;
    struct trial trial;
    bool right = false;
    for (uint32_t i = 0; i < pool->reserved_count; i++) {
        right |= pool->reserved[i].task.v == task->id.v && pool->reserved[i].turn;
    }
    arena_init(&arena);
    trial_init(&trial, core, pool->id, &arena);
    right = right || credit_beyond(&trial, task) == 0;
    trial_done(&trial);
    arena_done(&arena);
    return right;
}

static bool judged(const struct ledger *ledger, const struct pool *pool, const struct task *task)
{
    const struct core *core = ledger->core;
    const uint32_t count = task->gang ? task->min_count : 1;
    return task != NULL && !pool->paused && !pool_by_length(pool) && pool->idle_for_waiting > 0 &&
           pool->usable[DIM_SLOTS].low > 0 && query_task_shape(core, task->shape)->form == NULL &&
           !oracle_bounded(ledger, task, NULL, count) && !department_bounds(core, task) &&
           oracle_possible(core, pool->id, &query_task_shape(core, task->shape)->request, count) &&
           has_right(core, pool, task);
}

/* ---- the bound ---- */

/* The slots that the task needs. A task for which more than slots counts may need the whole pool. */
static int64_t slots_of(const struct core *core, const struct pool *pool, const struct task *task)
{
    const struct request *request = &query_task_shape(core, task->shape)->request;
    const int64_t all = (int64_t)pool->usable[DIM_SLOTS].low;
    const int64_t need = request->slots_milli * (task->gang ? task->min_count : 1);
    const bool more = request->slots_milli == 0 || request->cpu_milli > 0 ||
                      request->memory_bytes > 0 || request->named_count > 0;
    return more || need > all ? all : need;
}

/* The idle budget is empty at first, the drains cost what the docs say, and every try but the last one ends with a release. */
static int64_t bound_ms(const struct laws_wait *wait, const struct core *core,
                        const struct pool *pool, const struct laws_first *first,
                        const struct task *task)
{
    const int64_t fill =
        (int64_t)pool->usable[DIM_SLOTS].low * pool->idle_for_waiting / PERCENT_WHOLE;
    int64_t slots = slots_of(core, pool, task);
    for (uint32_t i = 0; i < pool->reserved_count; i++) {
        const struct task *holder = query_task(core, pool->reserved[i].task);
        slots += holder != task ? slots_of(core, pool, holder) : 0;
    }
    const int64_t saving_ms = slots * wait->longest_ms / (fill > 0 ? fill : 1);
    int64_t bound = pool->patience_ms > 0 ? pool->patience_ms : 0;
    for (uint32_t i = 0; i <= task->releases; i++) {
        bound += (saving_ms << i) + wait->longest_ms + MINUTE_MS;
    }
    return bound * (1 + first->beside);
}

/* ---- the law ---- */

static void first_check(struct laws_wait *wait, const struct ledger *ledger,
                        const struct pool *pool, struct laws_first *first, int64_t now_ms)
{
    const struct core *core = ledger->core;
    const struct task *task = first_now(core, pool, first->account);
    if (task == NULL || !judged(ledger, pool, task)) {
        first->task = (task_id){0};
        return;
    }
    if (first->task.v != task->id.v || first->queued_ms != task->queued_ms ||
        first->slots != (int64_t)pool->usable[DIM_SLOTS].low) {
        first->task = task->id;
        first->queued_ms = task->queued_ms;
        first->since_ms = now_ms;
        first->slots = (int64_t)pool->usable[DIM_SLOTS].low;
        first->beside = 0;
        wait->count++;
    }
    uint32_t beside = 0;
    for (size_t i = 0; i < wait->firsts.count; i++) {
        const struct laws_first *other = &wait->firsts.at[i];
        beside += other != first && other->pool.v == pool->id.v && other->task.v != 0;
    }
    first->beside = beside > first->beside ? beside : first->beside;
    const int64_t bound = bound_ms(wait, core, pool, first, task);
    const uint64_t part = (uint64_t)((now_ms - first->since_ms) * 1000 / bound);
    wait->most = part > wait->most ? part : wait->most;
    law(part <= 1000, "P7: a blocked task starts within the bound that budgets.md states");
}

void laws_wait_rest(struct laws_wait *wait, const struct ledger *ledger, pool_id id, int64_t now_ms)
{
    const struct core *core = ledger->core;
    const struct pool *pool = query_pool(core, id);
    if (pool == NULL) {
        return;
    }
    (void)first_of(wait, id, (account_id){0});
    for (const struct task *task = query_task_next(core, (task_id){0}); task != NULL;
         task = query_task_next(core, task->id)) {
        if (task->pool.v == id.v && waits(task) && between(pool)) {
            (void)first_of(wait, id, task->account);
        } else if (task->pool.v == id.v && task->running_ms > 0) {
            laws_wait_ran(wait, now_ms - task->running_ms);
        }
    }
    for (size_t i = 0; i < wait->firsts.count; i++) {
        struct laws_first *first = &wait->firsts.at[i];
        if (first->pool.v == id.v && (first->account.v != 0) == between(pool)) {
            first_check(wait, ledger, pool, first, now_ms);
        }
    }
}
