/* bound_above.c - finds, for each account above projects, the waiting task for which its quota is kept.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core/sched/keep/bound_above.h"

#include "base/arena.h"
#include "core/model/oindex.h"
#include "core/model/spec.h"
#include "core/sched/keep/first_bound.h"
#include "core/sched/order/account.h"
#include "core/sched/order/queue.h"
#include "core/sched/order/shares.h"
#include "core/sched/order/tally.h"
#include "core/state/key.h"
#include "core/state/query.h"
#include "core/state/state.h"

struct bounds_above {
    const struct first_bound **at; /* by account_view.index: the task, its amounts; NULL: none */
    /* by account_view.index: how many projects below the account have a task that waits for the account's quota */
    uint32_t *waiting;
    uint32_t count;
};

/* ---- finding ---- */

static bool has_limit(const struct tally *tally, const struct account_view *account)
{
    for (uint32_t dim = 0; dim < tally->shares->pool.dims; dim++) {
        if (account->limit.at[dim] != VECTOR_UNLIMITED) {
            return true;
        }
    }
    return false;
}

static bool limited_above(const struct tally *tally, const struct account_view *leaf)
{
    for (const struct account_view *at = leaf->parent; at != NULL; at = at->parent) {
        if (has_limit(tally, at)) {
            return true;
        }
    }
    return false;
}

static bool older(const struct task *a, const struct task *b)
{
    return a->queued_ms != b->queued_ms ? a->queued_ms < b->queued_ms : a->id.v < b->id.v;
}

/* The first task of the project at `*key`; NULL: that task has a promised place for all its instances. Moves `*key` to the first
 * task of the next project; `*more` says whether there is one. */
static const struct task *project_first(struct trial *trial, struct okey *key, bool *more)
{
    struct shape_notes notes = {.arena = trial->arena};
    struct queue queue = {.core = trial->core, .arena = trial->arena};
    queue.by_rank = query_pool(trial->core, trial->pool)->policy == POLICY_FIFO;
    *more = queue_fill(&queue, &notes, key);
    const struct task *task = queue_first(&queue);
    return task_promised(task) ? NULL : task;
}

static void project_note(struct trial *trial, struct bounds_above *above, const struct task *task,
                         int64_t now_ms)
{
    const struct first_bound *first = first_bound_of(trial, task, task_chunk(task), now_ms);
    for (const struct account_view *at = tally_view(&trial->tally, task)->parent;
         first != NULL && at != NULL; at = at->parent) {
        const struct first_bound *known = above->at[at->index];
        above->waiting[at->index]++;
        if (has_limit(&trial->tally, at) && (known == NULL || older(task, known->task))) {
            above->at[at->index] = first;
        }
    }
}

struct bounds_above *bound_above_find(struct trial *trial, int64_t now_ms)
{
    const struct core *core = trial->core;
    const struct shares *shares = trial->tally.shares;
    const uint64_t pool = trial->pool.v;
    struct bounds_above *above = NULL;
    struct okey key = {{ACCOUNT_KEY(trial->pool, (account_id){0}), 0, 0, 0}};
    bool more =
        oindex_from(&core->orders[ORDER_ACCOUNT_QUEUE], key, &key) && key.at[0] >> 32 == pool;
    while (more) {
        const struct account_view *view = shares_view(shares, (account_id){(uint32_t)key.at[0]});
        if (!limited_above(&trial->tally, view)) {
            const struct okey next = {{key.at[0] + 1, 0, 0, 0}};
            more = oindex_from(&core->orders[ORDER_ACCOUNT_QUEUE], next, &key) &&
                   key.at[0] >> 32 == pool;
            continue;
        }
        if (above == NULL) {
            above = arena_new(trial->arena, struct bounds_above, 1);
            above->count = shares->count;
            above->at = arena_new(trial->arena, const struct first_bound *, shares->count);
            above->waiting = arena_new(trial->arena, uint32_t, shares->count);
        }
        const struct task *task = project_first(trial, &key, &more);
        if (task != NULL) {
            project_note(trial, above, task, now_ms);
        }
    }
    return above;
}

/* ---- asking ---- */

static bool holds_at(struct trial *trial, const struct first_bound *first, uint32_t index,
                     const struct task *task, enum view view, const struct vector *amounts)
{
    if (first == NULL || first->task->id.v == task->id.v) {
        return false;
    }
    first_bound_count(trial, first, 1);
    const bool holds = tally_over_limit(&trial->tally, index, view, amounts);
    first_bound_count(trial, first, -1);
    return holds;
}

const struct task *bound_above_holder(struct trial *trial, const struct bounds_above *above,
                                      const struct task *task, enum view view,
                                      const struct vector *amounts)
{
    const struct account_view *at = tally_view(&trial->tally, task)->parent;
    for (; above != NULL && at != NULL; at = at->parent) {
        const struct first_bound *first = above->at[at->index];
        if (holds_at(trial, first, at->index, task, view, amounts)) {
            return first->task;
        }
    }
    return NULL;
}

void bound_above_placed(struct bounds_above *above, const struct task *task)
{
    for (uint32_t i = 0; above != NULL && i < above->count; i++) {
        if (above->at[i] != NULL && above->at[i]->task == task) {
            above->at[i] = NULL;
        }
    }
}

bool bound_above_any(const struct trial *trial, const struct bounds_above *above,
                     const struct task *task)
{
    const struct account_view *at = tally_view(&trial->tally, task)->parent;
    for (; above != NULL && at != NULL; at = at->parent) {
        const struct first_bound *first = above->at[at->index];
        if (first != NULL && (first->task->id.v != task->id.v || above->waiting[at->index] > 1)) {
            return true;
        }
    }
    return false;
}
