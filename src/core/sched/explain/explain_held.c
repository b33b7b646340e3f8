/* explain_held.c - places and quota that are promised to, or kept for, other tasks.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/must.h"
#include "core/model/claim.h"
#include "core/model/fit.h"
#include "core/model/space.h"
#include "core/model/spec.h"
#include "core/sched/explain/explain_internal.h"
#include "core/sched/keep/bound_above.h"
#include "core/sched/keep/first_bound.h"
#include "core/sched/keep/reserve.h"
#include "core/sched/keep/rights.h"
#include "core/sched/order/form_chunk.h"
#include "core/sched/order/queue.h"
#include "core/sched/order/view.h"
#include "core/state/key.h"
#include "core/state/query.h"

task_id explain_held_promised(const struct explain_look *look)
{
    const struct core *core = look->core;
    struct okey at = {{look->pool->id.v, 0, 0, 0}};
    while (oindex_next(&core->orders[ORDER_NODE_CHANGING], at, &at) &&
           at.at[0] == look->pool->id.v) {
        struct okey key = {{at.at[1], 0, 0, 0}};
        while (oindex_next(&core->orders[ORDER_CLAIM], key, &key) && key.at[0] == at.at[1]) {
            must(key.at[1] != 0); /* a claim belongs to a task */
            if (key.at[1] != look->task->id.v) {
                return (task_id){key.at[1]};
            }
        }
    }
    return (task_id){0};
}

int64_t explain_held_leaving_ms(const struct core *core, const struct task *task)
{
    int64_t until_ms = 0;
    for (uint32_t i = 0; i < task->instance_count; i++) {
        const struct claim *claim = query_instance_claim(core, task->id, i);
        struct okey key = {{claim != NULL ? claim->node.v : 0, 0, 0, 0}};
        while (claim != NULL && oindex_next(&core->orders[ORDER_ON_NODE], key, &key) &&
               key.at[0] == claim->node.v) {
            const struct instance *instance = query_instance_row(core, key.at[3]);
            must(instance != NULL);
            const int64_t deadline_ms = instance->stop_deadline_ms;
            until_ms = deadline_ms > until_ms ? deadline_ms : until_ms;
        }
    }
    return until_ms;
}

const struct task *explain_held_quota(struct trial *trial, const struct task *task, bool *ret_any)
{
    struct vector amounts;
    const struct bounds_above *above = bound_above_find(trial, INT64_MAX);
    form_chunk_next_amounts(trial->core, task, task_chunk(task), SLOTS_LEAST, &amounts);
    const struct task *first = first_bound_ahead(trial, task, &amounts, ret_any);
    *ret_any |= bound_above_any(trial, above, task);
    return first != NULL ? first : bound_above_holder(trial, above, task, VIEW_NOW, &amounts);
}

void explain_held(struct explain_look *look)
{
    const struct okey key = key_account_queue(look->task);
    struct vector amounts;
    bool any;
    must(look->count > 0);
    form_chunk_next_amounts(look->core, look->task, look->count, SLOTS_LEAST, &amounts);
    look->held = explain_held_quota(&look->trial, look->task, &any);
    look->held =
        look->held != NULL ? look->held : rights_held(&look->trial, look->task, &key, &amounts);
    /* A holder whose request became smaller is no holder any more. Then another task of its project may become the holder, and the places
     * kept for the other task may keep this task from a start. */
    look->behind |= any || (look->task->reserved && rights_bind(&look->trial));
}

/* ---- kept places ---- */

/* Would the task fit if no places were kept? */
static bool fits_free(const struct explain_look *look)
{
    const struct node *node;
    struct okey key = {{look->pool->id.v, 0, 0, 0}};
    uint32_t have = 0;
    must(look->count > 0);
    while (have < look->count && explain_node_next(look, &key, &node)) {
        struct space now;
        space_now(node, &now);
        have += fit_usable(node) ? fit_count(&now, &look->shape->request, look->count - have) : 0;
    }
    return have == look->count;
}

/* Does the task come behind the holder? Where turns change between projects, every task of another project does: a task that came
 * before the holder and fitted has started. */
static bool comes_behind(const struct explain_look *look, const struct task *holder)
{
    const struct task *task = look->task;
    const enum pool_policy policy = look->pool->policy;
    must(task->pool.v == holder->pool.v);
    const bool static_order =
        policy == POLICY_PRIORITY || policy == POLICY_FIFO || task->account.v == holder->account.v;
    if (!static_order || task->id.v == holder->id.v) {
        return task->id.v != holder->id.v;
    }
    const struct okey key = key_account_queue(task);
    const struct okey other = key_account_queue(holder);
    return !queue_ahead(&key, &other, policy == POLICY_FIFO);
}

/* Keeps the places of one holder in the look's trial. */
static void keep_for(struct explain_look *look, const struct reservation *reservation)
{
    const struct task *task = query_task_in(look->core, look->pool->id, reservation->task);
    must(task != NULL); /* a holder waits */
    const struct holder holder =
        reserve_holder(look->core, task, reservation->until_ms, query_time_ms(look->core));
    if (reserve_form_open(&look->trial, task)) {
        (void)reserve_form_task(&look->trial, &holder);
    }
}

bool explain_held_keep(struct explain_look *look)
{
    const struct pool *pool = look->pool;
    const bool matters = look->shape->form != NULL || fits_free(look);
    look->trial.overlay.now_ms = query_time_ms(look->core);
    for (uint32_t i = 0; i < pool->reserved_count; i++) {
        const struct reservation *reservation = &pool->reserved[i];
        const struct task *task = query_task_in(look->core, look->pool->id, reservation->task);
        must(task != NULL);
        if (task->waiting_count == 0 || task_promised(task) || task->id.v == look->task->id.v) {
            continue;
        }
        (void)overlay_holder(&look->trial.overlay, task);
        if (comes_behind(look, task)) {
            look->holder = look->behind ? look->holder : reservation;
            look->behind = true;
        }
        /* Each holder has nodes of its own. So a holder behind the task matters, too: it decides which nodes are left for the others. */
        if (matters) {
            keep_for(look, reservation);
        }
    }
    return matters;
}

void explain_held_keep_all(struct explain_look *look)
{
    for (uint32_t i = 0; i < look->pool->reserved_count; i++) {
        const struct task *task =
            query_task_in(look->core, look->pool->id, look->pool->reserved[i].task);
        if (task->waiting_count > 0) {
            keep_for(look, &look->pool->reserved[i]);
        }
    }
}
