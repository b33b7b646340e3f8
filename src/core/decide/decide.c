/* decide.c - from inputs to facts.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core/decide/step.h"

#include "base/must.h"
#include "core/sched/pass.h"

const struct core *step_state(struct step *step)
{
    if (step->out->count > step->applied && step->scratch == NULL) {
        step->scratch = state_scratch(step->core);
    }
    for (; step->applied < step->out->count; step->applied++) {
        core_apply(step->scratch, &step->out->at[step->applied]);
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

static enum verdict decide_pass(struct step *step)
{
    pass_decide(step->core, step->in, step->out);
    return VERDICT_OK;
}

enum verdict core_decide(const struct core *core, const struct input *in, struct facts *out)
{
    static enum verdict (*const deciders[INPUT_TYPE_COUNT])(struct step *) = {
        [INPUT_SERVER_START] = decide_server_start,
        [INPUT_POOL_CREATE] = decide_pool_create,
        [INPUT_POOL_EDIT] = decide_pool_edit,
        [INPUT_POOL_DELETE] = decide_pool_delete,
        [INPUT_NODE_JOIN] = decide_node_join,
        [INPUT_NODE_SILENT] = decide_node_silent,
        [INPUT_NODE_LOST] = decide_node_lost,
        [INPUT_NODE_EDIT] = decide_node_edit,
        [INPUT_NODE_REMOVE] = decide_node_remove,
        [INPUT_TASK_SUBMIT] = decide_submit,
        [INPUT_TASK_START] = decide_task_start,
        [INPUT_TASK_PAUSE] = decide_task_pause,
        [INPUT_TASK_ACTIVATE] = decide_task_activate,
        [INPUT_TASK_MOVE] = decide_move,
        [INPUT_TASK_KILL] = decide_task_kill,
        [INPUT_TASK_EDIT] = decide_edit,
        [INPUT_REPORT] = decide_report,
        [INPUT_TICK] = decide_tick,
        [INPUT_PASS] = decide_pass,
        [INPUT_ACCOUNT_SET] = decide_account_set,
        [INPUT_ACCOUNT_DELETE] = decide_account_delete,
        [INPUT_QUOTA_SET] = decide_account_quota,
        [INPUT_TASK_ADOPT] = decide_adopt,
    };
    must((unsigned)in->type < INPUT_TYPE_COUNT);
    must(in->now_ms >= core->time_ms);
    must(in->now_ms <= TIME_MS_MAX);
    must(out->count == 0);
    struct step step = {.core = core, .in = in, .out = out};
    enum verdict verdict = deciders[in->type](&step);
    core_free(step.scratch);
    must(verdict == VERDICT_OK || verdict == VERDICT_REPEATED || out->count == 0);
    return verdict;
}
