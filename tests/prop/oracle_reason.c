/* oracle_reason.c - every wait has a reason (P8).
 * SPDX-License-Identifier: Apache-2.0 */
#include "core/sched/explain/explain.h"
#include "oracle.h"
#include "law.h"

void oracle_reasons(const struct core *core, pool_id settled)
{
    for (const struct task *task = query_task_next(core, (task_id){0}); task != NULL;
         task = query_task_next(core, task->id)) {
        struct explanation explanation;
        explain_task(core, task->id, &explanation);
        const enum reason_code code = explanation.reason.code;
        if (task_state_ended((enum task_state)task->state)) {
            law(code == REASON_NONE, "P8: what has ended waits for nothing");
            continue;
        }
        law(task->waiting_count == 0 || task->kill_asked || code != REASON_NONE,
            "P8: every wait has a reason");
        law(code != REASON_NEXT || task->pool.v != settled.v, "P8: nobody is next after a pass");
        if (task->listed && task->queued &&
            query_task_in(core, settled, task->id)->pool.v == settled.v) {
            explain_task_in(core, task->id, settled, &explanation);
            law(explanation.reason.code != REASON_NONE, "P8: every wait has a reason in each pool");
            law(explanation.reason.code != REASON_NEXT, "P8: nobody is next after a pass");
        }
    }
}
