/* credit.c - see credit.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core/sched/keep/credit.h"

#include "base/checked.h"
#include "base/must.h"
#include "core/model/bucket.h"
#include "core/model/pool.h"
#include "core/model/spec.h"
#include "core/model/vector.h"
#include "core/sched/order/account.h"
#include "core/sched/order/form_chunk.h"
#include "core/sched/order/shares.h"
#include "core/sched/order/tally.h"
#include "core/state/query.h"

/* What the task waits for, plus the amounts of its project's tasks that are not preemptible. */
static void wanted_of(const struct trial *trial, const struct task *task, struct vector *ret)
{
    form_chunk_next_amounts(trial->core, task, task_chunk(task), SLOTS_MOST, ret);
    vector_add(ret, &tally_view(&trial->tally, task)->fixed);
}

uint32_t credit_beyond(const struct trial *trial, const struct task *task)
{
    const struct account_pool *all = &trial->tally.shares->pool;
    struct vector wanted;
    uint32_t beyond = 0;
    if (query_pool(trial->core, trial->pool)->policy != POLICY_FAIR_SHARE || !task->preemptible) {
        return 0;
    }
    wanted_of(trial, task, &wanted);
    for (const struct account_view *at = tally_view(&trial->tally, task); at != NULL;
         at = at->parent) {
        for (uint32_t dim = 0; dim < all->dims; dim++) {
            const int64_t right = at->allocatable.at[dim];
            const bool bounds = right != VECTOR_UNLIMITED && right < all->total.at[dim];
            beyond |= bounds && wanted.at[dim] > right ? 1u << dim : 0;
        }
    }
    return beyond;
}

/* What the siblings of the account are guaranteed and ask for, in one dimension. */
static int64_t promised_beside(const struct shares *shares, const struct account_view *account,
                               uint32_t dim)
{
    int64_t sum = 0;
    uint32_t at = account->parent == NULL ? shares->top_first
                                          : shares->links[account->parent->index].child_first;
    for (; at != SHARES_NONE; at = shares->links[at].sibling_next) {
        const struct account_view *other = &shares->views[at];
        const int64_t share = other->share.at[dim];
        const int64_t guaranteed = other->guaranteed.at[dim];
        if (other->index != account->index) {
            sum = bucket_plus(sum, guaranteed < share ? guaranteed : share);
        }
    }
    return sum;
}

bool credit_possible(const struct trial *trial, const struct task *task, uint32_t beyond)
{
    const struct shares *shares = trial->tally.shares;
    struct vector wanted;
    wanted_of(trial, task, &wanted);
    for (uint32_t dim = 0; dim < shares->pool.dims; dim++) {
        int64_t promised = 0;
        for (const struct account_view *at = tally_view(&trial->tally, task); at != NULL;
             at = at->parent) {
            if ((beyond >> dim & 1u) != 0 && at->allocatable.at[dim] == 0) {
                return false;
            }
            promised = bucket_plus(promised, promised_beside(shares, at, dim));
        }
        if ((beyond >> dim & 1u) != 0 &&
            bucket_plus(promised, wanted.at[dim]) > shares->pool.total.at[dim]) {
            return false;
        }
    }
    return true;
}

static const struct credit *credit_row(const struct pool *pool, account_id account, uint32_t dim)
{
    for (uint32_t i = 0; i < pool->credit_count; i++) {
        if (pool->credits[i].account.v == account.v && pool->credits[i].dim == dim) {
            return &pool->credits[i];
        }
    }
    return NULL;
}

static int64_t level_of(const struct credit *row, int64_t now_ms)
{
    const int64_t level = bucket_level(&row->bucket, now_ms);
    return level > -row->bucket.most ? level : -row->bucket.most;
}

int64_t credit_full_ms(const struct hold *hold, const struct task *task, uint32_t beyond,
                       account_id *ret_account)
{
    const struct shares *shares = hold->trial->tally.shares;
    int64_t last_ms = hold->now_ms;
    for (const struct account_view *at = tally_view(&hold->trial->tally, task); at != NULL;
         at = at->parent) {
        for (uint32_t dim = 0; dim < shares->pool.dims; dim++) {
            const struct credit *row =
                (beyond >> dim & 1u) != 0 ? credit_row(hold->pool, shares->links[at->index].id, dim)
                                          : NULL;
            if (row != NULL && !vector_within_at(at->allocated.at[dim], at->allocatable.at[dim])) {
                *ret_account = row->account;
                return INT64_MAX; /* the account is using up its credit */
            }
            if (row == NULL || level_of(row, hold->now_ms) >= row->bucket.most) {
                continue;
            }
            const int64_t at_ms = bucket_reaches_ms(level_of(row, hold->now_ms), row->bucket.rate,
                                                    row->bucket.most, hold->now_ms);
            *ret_account = at_ms > last_ms ? row->account : *ret_account;
            last_ms = at_ms > last_ms ? at_ms : last_ms;
        }
    }
    return last_ms;
}

bool credit_allows(struct hold *hold, const struct task *task, bool *turn)
{
    const uint32_t beyond = credit_beyond(hold->trial, task);
    if (beyond == 0) {
        return true;
    }
    if (hold->turned || !credit_possible(hold->trial, task, beyond) ||
        hold->pool->credit_count + 2 * hold->trial->tally.shares->pool.dims > CREDITS_MAX) {
        return false;
    }
    account_id account = {0};
    const int64_t at_ms = credit_full_ms(hold, task, beyond, &account);
    *turn = at_ms <= hold->now_ms;
    hold->turned |= *turn;
    if (!*turn && at_ms < INT64_MAX && (hold->wake_ms == 0 || at_ms < hold->wake_ms)) {
        hold->wake_ms = at_ms;
    }
    return *turn;
}

/* ---- facts ---- */

static void credit_fact(const struct hold *hold, const struct credit *row, const struct input *in,
                        struct facts *out)
{
    struct fact *fact = fact_list_add(out, in, FACT_CREDIT);
    fact->credit.pool = hold->pool->id;
    fact->credit.row = *row;
}

/* The turn of this task begins: from now on the credit of every account on its path is counted. */
static void turn_facts(const struct hold *hold, const struct task *task, const struct input *in,
                       struct facts *out)
{
    const struct shares *shares = hold->trial->tally.shares;
    const uint32_t beyond = credit_beyond(hold->trial, task);
    struct vector wanted;
    wanted_of(hold->trial, task, &wanted);
    for (const struct account_view *at = tally_view(&hold->trial->tally, task); at != NULL;
         at = at->parent) {
        for (uint32_t dim = 0; dim < shares->pool.dims; dim++) {
            const int64_t right = at->allocatable.at[dim];
            if ((beyond >> dim & 1u) == 0 || vector_within_at(wanted.at[dim], right) ||
                hold->pool->turn_ms == 0) {
                continue;
            }
            const int64_t more = bucket_plus(wanted.at[dim], -right);
            const int64_t need = bucket_times(more, hold->pool->turn_ms);
            const struct credit row = {
                .account = shares->links[at->index].id,
                .dim = dim,
                .share = right,
                .bucket = {.level = need, .rate = right - at->allocated.at[dim], .most = need}};
            credit_fact(hold, &row, in, out);
        }
    }
}

/* Does a holder of this list have a turn, below the account? */
static bool holds_turn(const struct hold *hold, account_id account)
{
    for (uint32_t i = 0; i < hold->count; i++) {
        const struct account_view *at = tally_view(&hold->trial->tally, hold->at[i].task);
        for (; hold->at[i].turn && at != NULL; at = at->parent) {
            if (hold->trial->tally.shares->links[at->index].id.v == account.v) {
                return true;
            }
        }
    }
    return false;
}

static void row_settle(const struct hold *hold, const struct credit *old, const struct input *in,
                       struct facts *out)
{
    const struct account_view *view = shares_view(hold->trial->tally.shares, old->account);
    struct credit row = *old;
    if (view != NULL && view->allocatable.at[old->dim] == VECTOR_UNLIMITED) {
        row.bucket =
            (struct bucket){0}; /* no share bounds the account any more, so it needs no turn */
        credit_fact(hold, &row, in, out);
        return;
    }
    row.share = view != NULL ? view->allocatable.at[old->dim] : old->share;
    row.bucket.level = level_of(old, hold->now_ms);
    row.bucket.rate = row.share - (view != NULL ? view->allocated.at[old->dim] : 0);
    if (row.bucket.level >= row.bucket.most && row.bucket.rate >= 0 &&
        !holds_turn(hold, old->account)) {
        row.bucket = (struct bucket){0}; /* the credit is full again */
        credit_fact(hold, &row, in, out);
    } else if (row.bucket.rate != old->bucket.rate) {
        credit_fact(hold, &row, in, out);
    }
}

void credit_settle(const struct hold *hold, const struct input *in, struct facts *out)
{
    const struct pool *pool = hold->pool;
    for (uint32_t i = 0; i < pool->credit_count; i++) {
        row_settle(hold, &pool->credits[i], in, out);
    }
    for (uint32_t i = 0; i < hold->count; i++) {
        const struct holder_row *row = &hold->at[i];
        bool before = false;
        for (uint32_t j = 0; j < pool->reserved_count; j++) {
            before |= pool->reserved[j].task.v == row->task->id.v && pool->reserved[j].turn;
        }
        if (row->turn && !before) {
            turn_facts(hold, row->task, in, out);
        }
    }
}
