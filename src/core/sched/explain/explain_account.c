/* explain_account.c - the bound of an account or a user that holds a task back.
 *
 * The figures come from the tally by which the pass decides, so they cannot differ from what the pass sees.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core/sched/explain/explain_account.h"

#include "base/must.h"
#include "core/model/reason.h"
#include "core/model/resource.h"
#include "core/sched/keep/rights.h"
#include "core/sched/order/account.h"
#include "core/sched/order/form_chunk.h"
#include "core/sched/order/gates.h"
#include "core/sched/order/user_cap.h"
#include "core/sched/order/view.h"
#include "core/state/query.h"

/* How an account stands in one dimension. */
static void figures_fill(const struct core *core, const struct tally *tally,
                         const struct account_view *view, uint32_t dim, struct explanation *ret)
{
    must(dim < QUOTA_DIMS_MAX);
    must(view->index < tally->shares->count);
    ret->account = (struct explain_account){
        .id = tally->shares->links[view->index].id,
        .resource = query_dim_resource(core, dim),
        .guaranteed = view->guaranteed.at[dim],
        .share = view->share.at[dim],
        .allocated = view->allocated.at[dim],
        .limit = view->limit.at[dim],
    };
}

/* The lowest dimension of a set of bits. */
static uint32_t dim_first(uint32_t dims)
{
    must(dims != 0);
    return (uint32_t)__builtin_ctz(dims);
}

/* The reason of a closed gate: which bound, and how much is left below it. */
static void bound_reason(const struct core *core, const struct gate_result *gate,
                         const struct vector *amounts, struct explanation *ret)
{
    must(gate->gate != GATE_OPEN);
    const uint32_t dim = dim_first(gate->dims);
    const bool limit = gate->gate == GATE_LIMIT;
    const struct account_view *view = gate->account;
    const int64_t bound = limit ? view->limit.at[dim] : view->guaranteed.at[dim];
    const int64_t held = limit ? view->allocated.at[dim] : view->fixed.at[dim];
    ret->reason.code = limit ? REASON_OVER_LIMIT : REASON_OVER_GUARANTEE;
    ret->reason.account = ret->account.id;
    ret->reason.resource = query_dim_resource(core, dim);
    ret->reason.wanted = amounts->at[dim];
    ret->reason.available = bound > held ? bound - held : 0;
    ret->account.held = held;
}

static void cap_reason(const struct task *task, const struct tally *tally,
                       const struct vector *amounts, struct explanation *ret)
{
    ret->reason.code = REASON_USER_CAP;
    ret->reason.resource = (resource_id){RESOURCE_SLOTS};
    ret->reason.wanted = amounts->at[DIM_SLOTS];
    ret->reason.available = user_cap_left(&tally->users, task->user, VIEW_NOW);
}

bool explain_account(const struct core *core, const struct task *task, const struct tally *tally,
                     struct explanation *ret)
{
    struct vector amounts;
    must(task->waiting_count > 0);
    form_chunk_next_amounts(core, task, task_chunk(task), SLOTS_LEAST, &amounts);
    const struct gate_result gate = tally_gate(tally, task, VIEW_NOW, &amounts);
    if (gate.gate != GATE_OPEN) {
        figures_fill(core, tally, gate.account, dim_first(gate.dims), ret);
        bound_reason(core, &gate, &amounts, ret);
        return true;
    }
    figures_fill(core, tally, tally_view(tally, task), DIM_SLOTS, ret);
    if (!tally_user_capped(tally, task, VIEW_NOW, &amounts)) {
        return false;
    }
    cap_reason(task, tally, &amounts, ret);
    return true;
}

void explain_account_left(const struct core *core, const struct task *task,
                          const struct tally *tally, const struct vector *comes,
                          struct explanation *ret)
{
    const struct gate_result gate = tally_gate(tally, task, VIEW_NOW, comes);
    if (gate.gate == GATE_OPEN) { /* no account forbids the amounts, so the cap of the user does */
        cap_reason(task, tally, comes, ret);
        return;
    }
    figures_fill(core, tally, gate.account, dim_first(gate.dims), ret);
    bound_reason(core, &gate, comes, ret);
}

void explain_account_share(const struct trial *trial, const struct task *task,
                           struct explanation *ret)
{
    const bool asks = explain_time_for_room(ret->reason.code) && !task->reserved;
    const uint32_t dims = asks ? rights_beyond(trial, task) : 0;
    if (dims == 0) {
        return;
    }
    must(task->pool.v == trial->pool.v);
    const uint32_t dim = dim_first(dims);
    const struct account_view *view = tally_view(&trial->tally, task);
    const int64_t left = view->allocatable.at[dim] - view->fixed.at[dim];
    const resource_id resource = query_dim_resource(trial->core, dim);
    const bool same = ret->reason.code == REASON_NO_ROOM && ret->reason.resource.v == resource.v;
    struct vector amounts;
    form_chunk_next_amounts(trial->core, task, task_chunk(task), SLOTS_MOST, &amounts);
    figures_fill(trial->core, &trial->tally, view, dim, ret);
    ret->account.held = view->fixed.at[dim];
    ret->reason.code = REASON_OVER_SHARE;
    ret->reason.account = ret->account.id;
    ret->reason.resource = resource;
    ret->reason.wanted = amounts.at[dim];
    ret->reason.available = left > 0 ? left : 0;
    ret->reason.smallest = same ? ret->reason.smallest : -1;
    ret->reason.group[0] = '\0'; /* the reason is about the whole task, not about one group */
}
