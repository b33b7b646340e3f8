/* decide_task.c - what users ask of existing tasks: start, pause, activate, kill.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/must.h"
#include "core/decide/decide.h"
#include "core/decide/settle.h"
#include "core/decide/step.h"
#include "core/model/pool.h"
#include "core/model/reason.h"
#include "core/model/shape.h"
#include "core/model/task.h"
#include "core/model/verdict.h"
#include "core/state/fact.h"
#include "core/state/query.h"

enum verdict decide_task_start(struct step *step)
{
    enum verdict verdict = VERDICT_OK;
    const struct task *task = step_task(step, &verdict);
    if (task == NULL) {
        return verdict;
    }
    if (task->state != TASK_STAGED) {
        return step_wrong_state(step, task->state);
    }
    const struct pool *pool = query_pool(step->core, task->pool);
    if (pool == NULL) {
        step_refuse(step, REASON_UNKNOWN_POOL, query_pool_name(step->core, task->pool));
        return VERDICT_REFUSED;
    }
    if (pool->life.phase != PHASE_OPEN) {
        return decide_life_refuse(step, pool);
    }
    const struct shape *shape = query_task_shape(step->core, task->shape);
    must(shape != NULL);
    must(task->active_count == 0); /* no instance of a staged task has a place */
    verdict = shape->form != NULL
                  ? decide_form_possible(step, pool, shape_form(shape), NULL)
                  : decide_submit_possible(step, pool, &shape->request, task_gang_size(task));
    if (verdict == VERDICT_OK) {
        step_fact(step, FACT_TASK_QUEUED)->task.task = task->id;
    }
    return verdict;
}

enum verdict decide_task_pause(struct step *step)
{
    enum verdict verdict = VERDICT_OK;
    const struct task *task = step_task(step, &verdict);
    if (task == NULL) {
        return verdict;
    }
    if (task->pause_asked) {
        return VERDICT_OK;
    }
    must(task->state != TASK_PAUSED);
    if (task->kill_asked || task->state == TASK_STAGED || task->state == TASK_UNAVAILABLE) {
        return step_wrong_state(step, task->state);
    }
    step_fact(step, FACT_TASK_PAUSED)->task.task = task->id;
    settle_stop(step, task->id, END_PAUSED, true);
    return VERDICT_OK;
}

enum verdict decide_task_activate(struct step *step)
{
    enum verdict verdict = VERDICT_OK;
    const struct task *task = step_task(step, &verdict);
    if (task == NULL) {
        return verdict;
    }
    if (!task->pause_asked || task->kill_asked) {
        return step_wrong_state(step, task->state);
    }
    must(task->state != TASK_STAGED);
    step_fact(step, FACT_TASK_QUEUED)->task.task = task->id;
    return VERDICT_OK;
}

void decide_task_end(struct step *step, const struct task *task)
{
    if (task->kill_asked) {
        return;
    }
    /* A task that has not ended has an instance that waits, is active or is held by a rollout. */
    must(task->waiting_count + task->active_count + task->held_count > 0);
    step_fact(step, FACT_TASK_KILL_ASKED)->task.task = task->id;
    if (task->active_count > 0) {
        settle_stop(step, task->id, END_KILLED, false);
    } else {
        settle_task(step, task->id, TASK_KILLED, END_KILLED, EXIT_CODE_KILLED);
    }
}

enum verdict decide_task_kill(struct step *step)
{
    enum verdict verdict = VERDICT_OK;
    const struct task *task = step_task(step, &verdict);
    if (task != NULL) {
        decide_task_end(step, task);
    }
    return verdict;
}
