/* explain_held.c - places that are promised to others, quota that is kept for them.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core/model/claim.h"
#include "core/sched/explain/explain_internal.h"
#include "core/sched/keep/bound_above.h"
#include "core/sched/keep/first_bound.h"
#include "core/sched/keep/rights.h"
#include "core/sched/order/form_chunk.h"
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
            const int64_t deadline_ms = query_instance_row(core, key.at[3])->stop_deadline_ms;
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
    form_chunk_next_amounts(look->core, look->task, look->count, SLOTS_LEAST, &amounts);
    look->held = explain_held_quota(&look->trial, look->task, &any);
    look->held =
        look->held != NULL ? look->held : rights_held(&look->trial, look->task, &key, &amounts);
    look->behind |= any;
}
