/* rights.c - compares what a holder waits for with the rights of its accounts.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core/sched/keep/rights.h"

#include "base/arena.h"
#include "base/checked.h"
#include "base/must.h"
#include "core/model/spec.h"
#include "core/sched/order/account.h"
#include "core/sched/order/form_chunk.h"
#include "core/sched/order/queue.h"
#include "core/sched/order/reclaim_rules.h"
#include "core/sched/order/view.h"
#include "core/sched/place/overlay.h"
#include "core/state/key.h"
#include "core/state/query.h"

static bool turns_change(const struct pool *pool)
{
    return pool->policy == POLICY_FAIR_SHARE || pool->policy == POLICY_ROUND_ROBIN;
}

bool rights_between(const struct core *core, const struct pool *pool)
{
    const struct oindex *order = &core->orders[ORDER_ACCOUNT_QUEUE];
    struct okey key = {{ACCOUNT_KEY(pool->id, (account_id){0}), 0, 0, 0}};
    return turns_change(pool) && oindex_from(order, key, &key) && key.at[0] >> 32 == pool->id.v &&
           oindex_from(order, (struct okey){{key.at[0] + 1, 0, 0, 0}}, &key) &&
           key.at[0] >> 32 == pool->id.v;
}

bool rights_ahead(const struct pool *pool, const struct task *holder, const struct okey *key)
{
    const struct okey other = key_account_queue(holder);
    return (key->at[0] == other.at[0] || !turns_change(pool)) &&
           queue_ahead(key, &other, pool->policy == POLICY_FIFO);
}

/* What the holder waits for, plus the amounts of its project's tasks that are not preemptible. */
static void alone(const struct tally *tally, const struct task *holder, struct vector *ret)
{
    form_chunk_next_amounts(tally->core, holder, task_chunk(holder), SLOTS_MOST, ret);
    vector_add(ret, &tally_view(tally, holder)->fixed);
}

bool rights_enough(const struct tally *tally, const struct task *holder)
{
    struct vector sum;
    alone(tally, holder, &sum);
    return vector_above(&sum, &tally_view(tally, holder)->allocatable, tally->shares->pool.dims) ==
           0;
}

uint32_t rights_beyond(const struct trial *trial, const struct task *task)
{
    const struct pool *pool = query_pool(trial->core, trial->pool);
    const struct account_pool *all = &trial->tally.shares->pool;
    struct vector sum;
    uint32_t beyond = 0;
    if (pool->policy != POLICY_FAIR_SHARE || pool->preemption_off || !task->preemptible) {
        return 0;
    }
    const struct vector *right = &tally_view(&trial->tally, task)->allocatable;
    alone(&trial->tally, task, &sum);
    for (uint32_t dim = 0; dim < all->dims; dim++) {
        const bool bounds =
            right->at[dim] != VECTOR_UNLIMITED && right->at[dim] < all->total.at[dim];
        beyond |= bounds && sum.at[dim] > right->at[dim] ? 1u << dim : 0;
    }
    return beyond;
}

/* Would the account, with `amounts` and `waits` added, be above its right in a dimension that both ask for? A dimension in which the
 * account has a right to the whole pool does not count: no other account could take there. */
static bool above_right(const struct tally *tally, const struct account_view *account,
                        const struct vector *waits, const struct vector *amounts)
{
    struct vector sum = {{0}};
    for (uint32_t dim = 0; dim < tally->shares->pool.dims; dim++) {
        const bool all = account->allocatable.at[dim] >= tally->shares->pool.total.at[dim];
        if (waits->at[dim] > 0 && amounts->at[dim] > 0 && !all) {
            sum.at[dim] = i64_add(waits->at[dim], amounts->at[dim]);
            sum.at[dim] = i64_add(sum.at[dim], account->allocated.at[dim]);
        }
    }
    return vector_above(&sum, &account->allocatable, tally->shares->pool.dims) != 0;
}

static bool is_above(const struct account_view *account, const struct account_view *below)
{
    while (below != NULL && below != account) {
        below = below->parent;
    }
    return below == account;
}

/* Does the holder hold back this task of another project? Only if the task's project would be above its own right, and an account
 * above both projects, too. */
static bool held_beside(const struct tally *tally, const struct task *holder,
                        const struct task *task, const struct vector *amounts)
{
    const struct account_view *account = tally_view(tally, task);
    struct vector sum = *amounts;
    struct vector waits;
    vector_add(&sum, &account->allocated);
    if (vector_above(&sum, &account->allocatable, tally->shares->pool.dims) == 0) {
        return false;
    }
    form_chunk_next_amounts(tally->core, holder, task_chunk(holder), SLOTS_MOST, &waits);
    for (const struct account_view *at = tally_view(tally, holder)->parent; at != NULL;
         at = at->parent) {
        if (is_above(at, account) && above_right(tally, at, &waits, amounts)) {
            return true;
        }
    }
    return false;
}

/* Do all departments of the holder have a right to the whole pool in what the holder waits for? */
static bool whole_right(const struct tally *tally, const struct task *holder)
{
    const struct account_pool *pool = &tally->shares->pool;
    struct vector waits;
    bool whole = true;
    form_chunk_next_amounts(tally->core, holder, task_chunk(holder), SLOTS_MOST, &waits);
    for (const struct account_view *at = tally_view(tally, holder)->parent; at != NULL;
         at = at->parent) {
        for (uint32_t dim = 0; dim < pool->dims; dim++) {
            const int64_t right = at->allocatable.at[dim];
            whole &=
                waits.at[dim] == 0 || right == VECTOR_UNLIMITED || right >= pool->total.at[dim];
        }
    }
    return whole;
}

bool rights_apart(struct trial *trial, uint32_t number)
{
    must(number < trial->overlay.holder_count);
    struct reserved_task *holder = &trial->overlay.holders[number];
    if (!holder->apart_known) {
        holder->apart_known = true;
        holder->apart = whole_right(&trial->tally, holder->task);
    }
    return holder->apart;
}

/* Does the holder hold back a task with these amounts that stands behind it in its project? */
static bool held_behind(const struct tally *tally, const struct task *holder,
                        const struct vector *amounts)
{
    const struct account_pool *pool = &tally->shares->pool;
    const struct account_view *account = tally_view(tally, holder);
    struct vector waits;
    struct vector sum;
    alone(tally, holder, &sum);
    form_chunk_next_amounts(tally->core, holder, task_chunk(holder), SLOTS_MOST, &waits);
    const bool guaranteed = vector_above(&sum, &account->guaranteed, pool->dims) == 0;
    return (guaranteed || !account_within_guarantee(pool, account, amounts)) &&
           above_right(tally, account, &waits, amounts);
}

bool rights_held_by(const struct tally *tally, const struct task *holder, const struct task *task,
                    const struct okey *key, const struct vector *amounts)
{
    if (holder->account.v != task->account.v) {
        return held_beside(tally, holder, task, amounts) && rights_enough(tally, holder);
    }
    const struct okey other = key_account_queue(holder);
    return task != holder && !queue_ahead(key, &other, false) &&
           held_behind(tally, holder, amounts) && rights_enough(tally, holder);
}

/* Do several projects have work in the pool, waiting or not? A project of which nothing waits now may have waiting tasks the next
 * moment, and then takes what it has a right to. */
static bool several_work(const struct shares *shares)
{
    uint32_t at = shares->top_first;
    while (at != SHARES_NONE && shares->links[at].sibling_next == SHARES_NONE) {
        at = shares->links[at].child_first;
    }
    return at != SHARES_NONE;
}

/* The answer depends on the state alone, so the first answer holds for the whole trial. */
bool rights_bind(struct trial *trial)
{
    if (!trial->rights_known) {
        const struct pool *pool = query_pool(trial->core, trial->pool);
        trial->rights_known = true;
        trial->rights_count = pool->policy == POLICY_FAIR_SHARE && !pool->preemption_off &&
                              several_work(trial->tally.shares);
    }
    return trial->rights_count;
}

const struct task *rights_held(struct trial *trial, const struct task *task, const struct okey *key,
                               const struct vector *amounts)
{
    const struct overlay *overlay = &trial->overlay;
    if (overlay->holder_count == 0 || !rights_bind(trial)) {
        return NULL;
    }
    for (uint32_t i = 0; i < overlay->holder_count; i++) {
        const struct task *holder = overlay->holders[i].task;
        const bool other = holder->account.v != task->account.v;
        if (overlay->holders[i].placed == 0 && !task_promised(holder) &&
            !(other && rights_apart(trial, i)) &&
            rights_held_by(&trial->tally, holder, task, key, amounts)) {
            return holder;
        }
    }
    return NULL;
}

/* Is the claimant within its guarantee, and would the holder's account be above its own? */
static bool by_guarantee(const struct claimant *claimant, const struct account_view *holder)
{
    const struct account_view *taker;
    const struct account_view *giver;
    account_diverge(claimant->account, holder, &taker, &giver);
    return reclaim_rules_by_guarantee(claimant, taker, giver, &giver->allocated);
}

/* Does the holder have a turn (credit.h)? */
static bool has_turn(const struct trial *trial, const struct task *holder)
{
    const struct pool *pool = query_pool(trial->core, trial->pool);
    for (uint32_t i = 0; i < pool->reserved_count; i++) {
        if (pool->reserved[i].task.v == holder->id.v) {
            return pool->reserved[i].turn && pool->turn_ms > 0;
        }
    }
    return false;
}

/* Could the claimant take what the holder waits for, if the holder held it? From a holder with a turn only a guarantee could. */
static bool takes_from(struct trial *trial, const struct claimant *claimant,
                       const struct task *holder)
{
    const struct account_view *account = tally_view(&trial->tally, holder);
    struct vector amounts;
    if (account == claimant->account || !holder->preemptible) {
        return false;
    }
    form_chunk_next_amounts(trial->core, holder, task_chunk(holder), SLOTS_MOST, &amounts);
    tally_move(&trial->tally, holder, VIEW_LATER, &amounts, 1);
    if (trial->losses == NULL) {
        trial->losses = arena_new(trial->arena, struct losses, 1);
        reclaim_rules_losses_init(trial->losses, trial->tally.shares, trial->tally.shares->count,
                                  trial->arena);
    }
    reclaim_rules_losses_clear(trial->losses);
    const bool takes =
        reclaim_rules_from(claimant, account) &&
        (!has_turn(trial, holder) || by_guarantee(claimant, account)) &&
        reclaim_rules_take(claimant, trial->losses, account, &amounts) != RECLAIM_REFUSED &&
        reclaim_rules_balanced(claimant, trial->losses);
    tally_move(&trial->tally, holder, VIEW_LATER, &amounts, -1);
    return takes;
}

uint32_t rights_all(struct trial *trial, const struct task *task, const struct okey *key,
                    const struct vector *amounts)
{
    const struct overlay *overlay = &trial->overlay;
    const struct pool *pool = query_pool(trial->core, trial->pool);
    if (overlay->holder_count == 0) {
        return 0;
    }
    const struct claimant claimant = {.pool = &trial->tally.shares->pool,
                                      .account = tally_view(&trial->tally, task),
                                      .request = *amounts,
                                      .preemptible = task->preemptible,
                                      .saturation_milli = SATURATION_MILLI_DEFAULT};
    const bool takes = pool->policy == POLICY_FAIR_SHARE && !pool->preemption_off &&
                       reclaim_rules_start(&claimant) == CLAIM_MAY_START;
    uint32_t passes = 0;
    for (uint32_t i = 0; i < overlay->holder_count; i++) {
        const struct task *holder = overlay->holders[i].task;
        const bool right =
            rights_ahead(pool, holder, key) || (takes && takes_from(trial, &claimant, holder));
        passes |= (uint32_t)right << i;
    }
    return passes;
}
