/* first_bound.c - whether quota is kept for a task, and from which tasks.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core/sched/keep/first_bound.h"

#include "base/arena.h"
#include "core/model/oindex.h"
#include "core/model/pool.h"
#include "core/model/spec.h"
#include "core/sched/keep/reserve.h"
#include "core/sched/order/account.h"
#include "core/sched/order/form_chunk.h"
#include "core/sched/order/gates.h"
#include "core/sched/order/queue.h"
#include "core/sched/order/tally.h"
#include "core/state/key.h"
#include "core/state/query.h"
#include "core/state/state.h"

/* Does a bound of the task's own project, or the cap of its user, forbid these amounts? */
static bool bound_here(const struct tally *tally, const struct task *task, enum view view,
                       const struct vector *amounts)
{
    const struct gate_result gate = tally_gate(tally, task, view, amounts);
    if (gate.gate == GATE_OPEN) {
        return tally_user_capped(tally, task, view, amounts);
    }
    return gate.account->index == tally_view(tally, task)->index;
}

/* Could the task have these amounts if its accounts and its user held nothing? */
static bool could_have(const struct trial *trial, const struct task *task,
                       const struct vector *amounts)
{
    const struct tally *tally = &trial->tally;
    const uint32_t dims = tally->shares->pool.dims;
    const int64_t cap = query_pool(trial->core, trial->pool)->user_slots_max;
    if (cap > 0 && amounts->at[DIM_SLOTS] > cap) {
        return false;
    }
    for (const struct account_view *at = tally_view(tally, task); at != NULL; at = at->parent) {
        if (vector_above(amounts, &at->limit, dims) != 0 ||
            (!task->preemptible && vector_above(amounts, &at->guaranteed, dims) != 0)) {
            return false;
        }
    }
    return reserve_form_possible(trial, task);
}

/* Does the task's project, or the cap of its user, bound any of these amounts? */
static bool has_bound(const struct trial *trial, const struct task *task,
                      const struct vector *amounts)
{
    const struct account_view *account = tally_view(&trial->tally, task);
    bool bound = !task->preemptible || query_pool(trial->core, trial->pool)->user_slots_max > 0;
    for (uint32_t dim = 0; dim < trial->tally.shares->pool.dims && !bound; dim++) {
        bound = amounts->at[dim] > 0 && account->limit.at[dim] != VECTOR_UNLIMITED;
    }
    return bound;
}

static const struct first_bound *first_find(struct trial *trial, const struct task *task,
                                            uint32_t count, int64_t now_ms, bool own)
{
    const struct pool *pool = query_pool(trial->core, trial->pool);
    struct vector amounts;
    const int64_t patience_ms =
        pool->patience_ms == PATIENCE_AUTO ? QUOTA_PATIENCE_MS : pool->patience_ms;
    if (now_ms - task->queued_ms < patience_ms) {
        return NULL;
    }
    form_chunk_next_amounts(trial->core, task, count, SLOTS_LEAST, &amounts);
    if ((own && !has_bound(trial, task, &amounts)) || !could_have(trial, task, &amounts)) {
        return NULL;
    }
    struct first_bound *first = arena_new(trial->arena, struct first_bound, 1);
    *first = (struct first_bound){task, amounts};
    return first;
}

const struct first_bound *first_bound_new(struct trial *trial, const struct task *task,
                                          uint32_t count, int64_t now_ms)
{
    return first_find(trial, task, count, now_ms, true);
}

const struct first_bound *first_bound_of(struct trial *trial, const struct task *task,
                                         uint32_t count, int64_t now_ms)
{
    return first_find(trial, task, count, now_ms, false);
}

void first_bound_count(struct trial *trial, const struct first_bound *first, int sign)
{
    tally_move(&trial->tally, first->task, VIEW_NOW, &first->amounts, sign);
    tally_move(&trial->tally, first->task, VIEW_LATER, &first->amounts, sign);
}

bool first_bound_holds(struct trial *trial, const struct first_bound *first,
                       const struct task *task, enum view view, const struct vector *amounts)
{
    if (first == NULL || first->task->id.v == task->id.v) {
        return false;
    }
    first_bound_count(trial, first, 1);
    const bool holds = bound_here(&trial->tally, task, view, amounts);
    first_bound_count(trial, first, -1);
    return holds;
}

const struct task *first_bound_ahead(struct trial *trial, const struct task *task,
                                     const struct vector *amounts, bool *ret_any)
{
    const struct core *core = trial->core;
    const bool by_rank = query_pool(core, trial->pool)->policy == POLICY_FIFO;
    const struct okey own = key_account_queue(task);
    struct shape_notes notes = {.arena = trial->arena};
    struct queue queue = {.core = core, .arena = trial->arena, .by_rank = by_rank};
    struct okey key = {{own.at[0], 0, 0, 0}};
    *ret_any = false;
    if (!oindex_from(&core->orders[ORDER_ACCOUNT_QUEUE], key, &key) || key.at[0] != own.at[0]) {
        return NULL;
    }
    (void)queue_fill(&queue, &notes, &key);
    while (queue.count > 0 && queue_ahead(&queue_lane(&queue)->key, &own, by_rank)) {
        const struct task *first = queue_first(&queue);
        if (task_promised(first)) {
            queue_advance(&queue);
            continue;
        }
        const struct first_bound *bound =
            first_bound_new(trial, first, task_chunk(first), INT64_MAX);
        *ret_any |= bound != NULL;
        if (first_bound_holds(trial, bound, task, VIEW_NOW, amounts)) {
            return first;
        }
        if (query_pool(core, trial->pool)->user_slots_max > 0) {
            queue_advance(&queue); /* the next task of the lane may be of another user */
        } else {
            queue_drop(&queue); /* the other tasks of the lane are equal */
        }
    }
    return NULL;
}
