/* decide_task.c - what users ask of tasks that exist.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core/step.h"

#include "base/amount.h"
#include "base/must.h"
#include "core/model/spec_codec.h"

static enum verdict wrong_state(struct step *step, enum task_state state)
{
    step_refuse(step, REASON_WRONG_STATE, task_state_name(state))->task = step->in->task.task;
    return VERDICT_CONFLICT;
}

/* The live task that the input names; else NULL and the verdict. */
static const struct task *task_of(struct step *step, enum verdict *ret)
{
    task_id id = step->in->task.task;
    const struct task *task = core_task(step->core, id);
    if (task != NULL) {
        return task;
    }
    if (id.v == 0 || id.v > core_task_last(step->core).v) {
        step_refuse(step, REASON_UNKNOWN_OBJECT, "task")->task = id;
        *ret = VERDICT_NOT_FOUND;
    } else {
        *ret = wrong_state(step, core_outcome(step->core, id));
    }
    return NULL;
}

enum verdict decide_task_start(struct step *step)
{
    enum verdict verdict = VERDICT_OK;
    const struct task *task = task_of(step, &verdict);
    if (task == NULL) {
        return verdict;
    }
    if (task->state != TASK_STAGED) {
        return wrong_state(step, task->state);
    }
    const struct pool *pool = core_pool(step->core, task->pool);
    if (pool == NULL) {
        step_refuse(step, REASON_UNKNOWN_POOL, core_pool_name(step->core, task->pool));
        return VERDICT_REFUSED;
    }
    const struct request *request = &core_shape(step->core, task->shape)->request;
    verdict = request_possible(step, pool, request, task_gang_size(task));
    if (verdict == VERDICT_OK) {
        step_fact(step, FACT_TASK_QUEUED)->task.task = task->id;
    }
    return verdict;
}

enum verdict decide_task_pause(struct step *step)
{
    enum verdict verdict = VERDICT_OK;
    const struct task *task = task_of(step, &verdict);
    if (task == NULL) {
        return verdict;
    }
    if (task->state == TASK_PAUSED) {
        return VERDICT_OK;
    }
    if (task->state != TASK_PENDING) {
        return wrong_state(step, task->state);
    }
    step_fact(step, FACT_TASK_PAUSED)->task.task = task->id;
    return VERDICT_OK;
}

enum verdict decide_task_activate(struct step *step)
{
    enum verdict verdict = VERDICT_OK;
    const struct task *task = task_of(step, &verdict);
    if (task == NULL) {
        return verdict;
    }
    if (task->state != TASK_PAUSED) {
        return wrong_state(step, task->state);
    }
    step_fact(step, FACT_TASK_QUEUED)->task.task = task->id;
    return VERDICT_OK;
}

enum verdict decide_task_kill(struct step *step)
{
    enum verdict verdict = VERDICT_OK;
    const struct task *task = task_of(step, &verdict);
    if (task == NULL) {
        return verdict;
    }
    if (task->kill_asked) {
        return VERDICT_OK;
    }
    step_fact(step, FACT_TASK_KILL_ASKED)->task.task = task->id;
    if (task->active_count > 0) {
        settle_stop(step, task->id, END_KILLED, false);
    } else {
        settle_task(step, task->id, TASK_KILLED, END_KILLED, EXIT_CODE_KILLED);
    }
    return VERDICT_OK;
}

/* ---- edits ---- */

/* The task as it would be: every limit of a new task holds for an edited one. */
static enum verdict edit_limits(struct step *step, const struct task *task,
                                const struct task_edit *edit)
{
    struct task_spec spec;
    core_task_spec(step->core, task->id, step->out->arena, &spec);
    if (edit->fields & EDIT_PRIORITY) {
        spec.priority = edit->priority;
    }
    if (edit->fields & EDIT_RETRIES) {
        spec.max_retries = edit->max_retries;
    }
    if (edit->fields & EDIT_TIME_LIMIT) {
        spec.time_limit_ms = edit->time_limit_ms;
    }
    if (edit->fields & EDIT_GRACE) {
        spec.grace_ms = edit->grace_ms;
    }
    if (edit->fields & EDIT_NAME) {
        spec.name = edit->name;
    }
    if (edit->fields & EDIT_TAGS) {
        spec.tags = edit->tags;
        spec.tag_count = edit->tag_count;
    }
    if (edit->fields & EDIT_POOL) {
        spec.pools = &edit->pool;
        spec.pool_count = 1;
    }
    const char *limit;
    int64_t max;
    return task_spec_in_limits(&spec, &limit, &max) ? VERDICT_OK : refuse_limit(step, limit, max);
}

static enum verdict edit_pool(struct step *step, const struct task *task, const char *name,
                              pool_id *ret)
{
    const struct pool *pool = core_pool_named(step->core, name);
    if (pool == NULL) {
        step_refuse(step, REASON_UNKNOWN_POOL, name);
        return VERDICT_REFUSED;
    }
    if (task->active_count > 0) {
        return wrong_state(step, task->state);
    }
    enum verdict verdict = pool_accepts(step, pool, task->kind);
    if (verdict == VERDICT_OK) {
        const struct request *request = &core_shape(step->core, task->shape)->request;
        verdict = request_possible(step, pool, request, task_gang_size(task));
    }
    *ret = pool->id;
    return verdict;
}

enum verdict decide_task_edit(struct step *step)
{
    enum verdict verdict = VERDICT_OK;
    const struct task *task = task_of(step, &verdict);
    if (task == NULL) {
        return verdict;
    }
    const struct task_edit *edit = step->in->task.edit;
    pool_id pool = task->pool;
    verdict = edit_limits(step, task, edit);
    if (verdict == VERDICT_OK && edit->fields & EDIT_POOL) {
        verdict = edit_pool(step, task, edit->pool, &pool);
    }
    if (verdict != VERDICT_OK || edit->fields == 0) {
        return verdict;
    }
    struct fact *fact = step_fact(step, FACT_TASK_EDITED);
    fact->task_edited.task = task->id;
    fact->task_edited.edit = *edit;
    fact->task_edited.pool = pool;
    return VERDICT_OK;
}
