/* decide_edit.c - edits of tasks. The resources and the project of a task change only while no instance has a
 * place. The pool of a task changes once its instances have left their places.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/arena.h"
#include "base/must.h"
#include "core/decide/decide.h"
#include "core/decide/settle.h"
#include "core/decide/step.h"
#include "core/model/form.h"
#include "core/model/input.h"
#include "core/model/label.h"
#include "core/model/object.h"
#include "core/model/spec_codec.h"

#include "core/model/pool.h"
#include "core/model/reason.h"
#include "core/model/resource.h"
#include "core/model/shape.h"
#include "core/model/spec.h"
#include "core/model/spec_limits.h"
#include "core/model/task.h"
#include "core/model/verdict.h"
#include "core/sched/explain/explain.h"
#include "core/state/access.h"
#include "core/state/fact.h"
#include "core/state/query.h"
#include "core/state/state.h"

#include <string.h>

enum { TASK_EDIT_FORM = TASK_EDIT_REQUEST | TASK_EDIT_topology };

/* The spec of the task after the edit. Every limit of a new task holds for an edited task. */
static enum verdict edit_limits(struct step *step, const struct task *task,
                                const struct task_edit *edit, struct task_spec *ret)
{
    query_task_spec(step->core, task->id, step->out->arena, ret);
    object_edit(&task_object, edit->fields, ret, edit->spec);
    const char *limit;
    int64_t max;
    return spec_limits_task(ret, &limit, &max) ? VERDICT_OK : step_refuse_limit(step, limit, max);
}

/* The request after the edit. Amounts, labels and nodes to avoid that the edit does not set are those of
 * `now`. */
static enum verdict edit_request(struct step *step, const struct task_edit *edit,
                                 const struct request *now, struct request *ret)
{
    const struct task_spec *spec = edit->spec;
    must(now->avoid_count <= TASK_AVOID_MAX);
    must(now->label_count <= TASK_LABELS_MAX);
    enum verdict verdict = VERDICT_OK;
    if (edit->fields & TASK_EDIT_resources) {
        verdict = decide_submit_request(step, edit->spec, ret);
        ret->avoid_count = now->avoid_count;
        memcpy(ret->avoid, now->avoid, sizeof ret->avoid);
        ret->label_count = now->label_count;
        memcpy(ret->labels, now->labels, sizeof ret->labels);
    } else {
        *ret = *now;
    }
    if (edit->fields & TASK_EDIT_node_labels) {
        const uint32_t own = label_marks_own_drop(ret, LABEL_OWN_ALL);
        memset(ret->labels, 0, sizeof ret->labels);
        ret->label_count = label_marks(spec->node_labels, spec->node_label_count, ret->labels);
        if (!label_marks_own_add(ret, own)) {
            return step_refuse_limit(step, "node_labels", TASK_LABELS_MAX - LABEL_OWN_COUNT);
        }
    }
    if (verdict == VERDICT_OK && edit->fields & TASK_EDIT_avoid) {
        verdict = decide_submit_avoid(step, spec->avoid, spec->avoid_count, ret);
    }
    return verdict;
}

/* What an edited task asks for. */
struct edited {
    const struct task *task;
    account_id account;
    const struct request *request;
    const struct form *form;
};

/* Could the edited task ever run in the pool? */
static bool edit_runs_in(const struct core *core, const struct edited *edited,
                         const struct pool *pool)
{
    struct reason reason = {.smallest = -1};
    uint32_t group;
    if (!access_open(core, pool, (enum task_kind)edited->task->kind, edited->account)) {
        return false;
    }
    return edited->form != NULL ? explain_form_possible(core, pool, edited->form, &reason, &group)
                                : explain_possible(core, pool, edited->request,
                                                   task_gang_size(edited->task), &reason);
}

/* The home of the task after an edit of its pools: the pool in which it holds places, if the spec names that pool;
 * else the first pool in which it can run. */
static const struct pool *edit_pool(struct step *step, const struct edited *edited,
                                    const struct task_spec *spec, const struct pool *first)
{
    const struct pool *chosen = NULL;
    for (uint32_t i = 0; i < spec->pool_count; i++) {
        const struct pool *pool = query_pool_named(step->core, spec->pools[i]);
        must(pool != NULL);
        if (!edit_runs_in(step->core, edited, pool)) {
            continue;
        }
        if (edited->task->active_count > 0 && pool->id.v == edited->task->pool.v) {
            return pool;
        }
        chosen = chosen != NULL ? chosen : pool;
    }
    return chosen != NULL ? chosen : first;
}

/* Resolves the pool and the request after the edit into `fact`, and checks that the task can ever run there
 * (P9). */
static enum verdict edit_place(struct step *step, const struct task *task,
                               const struct task_spec *spec, struct fact *fact)
{
    const struct task_edit *edit = &fact->task_edited.edit;
    const struct pool *pool = query_pool(step->core, task->pool);
    const struct shape *shape = query_task_shape(step->core, task->shape);
    must(shape != NULL);
    must(shape->pool.v == task->pool.v);
    const struct form *form = shape_form(shape);
    const struct request *request = &shape->request;
    enum verdict verdict = VERDICT_OK;
    if (edit->fields & TASK_EDIT_pools) {
        verdict = decide_submit_pools(step, spec, &pool);
    }
    if (verdict == VERDICT_OK && edit->fields & TASK_EDIT_REQUEST) {
        struct request *next = arena_new(step->out->arena, struct request, 1);
        verdict = edit_request(step, edit, request, next);
        fact->task_edited.request = next;
        request = next;
    }
    if (verdict == VERDICT_OK && edit->fields & TASK_EDIT_FORM) {
        form = form_of_topology(spec, request, step->out->arena);
    }
    if (verdict == VERDICT_OK && edit->fields & TASK_EDIT_pools) {
        const account_id next = fact->task_edited.account;
        const struct edited edited = {task, next.v != 0 ? next : task->account, request, form};
        pool = spec->pool_count > 1 ? edit_pool(step, &edited, spec, pool) : pool;
        fact->task_edited.pool = pool->id;
    }
    if (verdict == VERDICT_OK && pool != NULL) {
        verdict = form != NULL ? decide_form_possible(step, pool, form, NULL)
                               : decide_submit_possible(step, pool, request, task_gang_size(task));
    }
    return verdict;
}

/* Does the pool after the edit take the task of the project after the edit? An edit of the project of a task whose pool is gone is
 * allowed. */
static enum verdict edit_admitted(struct step *step, const struct task *task,
                                  const struct task_spec *spec, const struct fact *fact)
{
    const pool_id next = task->pool_next.v != 0 ? task->pool_next : task->pool;
    const bool moves = fact->task_edited.edit.fields & TASK_EDIT_pools;
    if (!moves && !(fact->task_edited.edit.fields & TASK_EDIT_project)) {
        return VERDICT_OK;
    }
    const struct pool *pool = query_pool(step->core, moves ? fact->task_edited.pool : next);
    const account_id next_project = fact->task_edited.account;
    const account_id project = next_project.v != 0 ? next_project : task->account;
    uint32_t needs = 0; /* a node that lacks these refuses the start */
    if (pool == NULL) {
        return VERDICT_OK;
    }
    const enum verdict verdict = decide_submit_accepts(step, pool, task->kind, project);
    return verdict == VERDICT_OK ? decide_network_task(step, spec, project, pool, &needs) : verdict;
}

static enum reason_code edit_hindrance(const struct core *core, const struct task *task,
                                       uint32_t fields)
{
    if (object_at_rest(&task_object, fields) != NULL && task->active_count > 0) {
        return REASON_HOLDS_PLACES;
    }
    const struct shape *shape = query_task_shape(core, task->shape);
    must(shape != NULL);
    const bool grouped = form_grouped(shape_form(shape));
    return fields & TASK_EDIT_FORM && grouped ? REASON_HAS_GROUPS : REASON_NONE;
}

enum verdict decide_edit(struct step *step)
{
    enum verdict verdict = VERDICT_OK;
    const struct task *task = step_task(step, &verdict);
    if (task == NULL) {
        return verdict;
    }
    const struct task_edit *edit = step->in->task.edit;
    const enum reason_code hindrance = edit_hindrance(step->core, task, edit->fields);
    if (hindrance != REASON_NONE) {
        /* Every field that a hindrance is about changes at rest only. */
        const struct object_field *field = object_at_rest(&task_object, edit->fields);
        must(field != NULL);
        step_refuse(step, hindrance, field->record.name)->task = task->id;
        return VERDICT_CONFLICT;
    }
    struct task_spec spec;
    struct fact would = {.task_edited = {.task = task->id, .edit = *edit, .pool = task->pool}};
    verdict = edit_limits(step, task, edit, &spec);
    if (verdict == VERDICT_OK && edit->fields & TASK_EDIT_project) {
        verdict = decide_submit_project(step, edit->spec->project, &would.task_edited.account);
    }
    if (verdict == VERDICT_OK && edit->fields & (TASK_EDIT_pools | TASK_EDIT_FORM)) {
        verdict = edit_place(step, task, &spec, &would);
    }
    if (verdict == VERDICT_OK && edit->fields & (TASK_EDIT_pools | TASK_EDIT_project)) {
        verdict = edit_admitted(step, task, &spec, &would);
    }
    if (verdict != VERDICT_OK || edit->fields == 0) {
        return verdict;
    }
    pool_id pool = would.task_edited.pool;
    step_fact(step, FACT_TASK_EDITED)->task_edited = would.task_edited;
    if (edit->fields & TASK_EDIT_pools && pool.v != task->pool.v) {
        settle_stop(step, task->id, END_MOVED, true);
    }
    return VERDICT_OK;
}
