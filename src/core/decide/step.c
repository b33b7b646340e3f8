/* step.c - one decision under way.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core/decide/step.h"

#include "base/str.h"
#include "core/apply/apply.h"
#include "core/model/names.h"
#include "core/state/query.h"

const struct core *step_state(struct step *step)
{
    if (step->out->count > step->applied && step->scratch == NULL) {
        step->scratch = state_scratch(step->core);
    }
    for (; step->applied < step->out->count; step->applied++) {
        apply(step->scratch, &step->out->at[step->applied]);
    }
    return step->scratch != NULL ? step->scratch : step->core;
}

struct fact *step_fact(struct step *step, enum fact_type type)
{
    return fact_list_add(step->out, step->in, type);
}

struct reason *step_refuse(struct step *step, enum reason_code code, const char *text)
{
    struct reason *reason = &step->out->refusal;
    step->out->count = 0;
    *reason = (struct reason){.code = code, .smallest = -1};
    (void)str_copy(reason->text, sizeof reason->text, text);
    return reason;
}

enum verdict step_refuse_limit(struct step *step, const char *limit, int64_t max)
{
    step_refuse(step, REASON_LIMIT, limit)->available = max;
    return VERDICT_REFUSED;
}

enum verdict step_wrong_state(struct step *step, enum task_state state)
{
    step_refuse(step, REASON_WRONG_STATE, names_task_state(state))->task = step->in->task.task;
    return VERDICT_CONFLICT;
}

const struct task *step_task(struct step *step, enum verdict *ret)
{
    task_id id = step->in->task.task;
    const struct task *task = query_task(step->core, id);
    if (task != NULL && !task_state_ended(task->state)) {
        return task;
    }
    if (task != NULL) {
        *ret = step_wrong_state(
            step, task->state); /* ended; only those that waited for it are not told */
    } else if (id.v == 0 || id.v > query_task_last(step->core).v) {
        step_refuse(step, REASON_UNKNOWN_OBJECT, "task")->task = id;
        *ret = VERDICT_NOT_FOUND;
    } else {
        *ret = step_wrong_state(step, query_task_outcome(step->core, id));
    }
    return NULL;
}
