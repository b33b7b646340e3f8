/* decide_edit.c - changes of what a task asked for. What it holds binds it: its resources and its
 * project change only while no instance has a place, its pool once they have left.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/arena.h"
#include "core/decide/decide.h"
#include "core/decide/settle.h"
#include "core/decide/step.h"
#include "core/model/form.h"
#include "core/model/input.h"
#include "core/model/label.h"
#include "core/model/pool.h"
#include "core/model/reason.h"
#include "core/model/resource.h"
#include "core/model/shape.h"
#include "core/model/spec.h"
#include "core/model/spec_edit.h"
#include "core/model/spec_limits.h"
#include "core/model/task.h"
#include "core/model/verdict.h"
#include "core/state/fact.h"
#include "core/state/query.h"
#include "core/state/state.h"

#include <string.h>

enum {
    EDIT_FORM = EDIT_REQUEST | EDIT_TOPOLOGY,
    EDIT_NEEDS_REST = EDIT_FORM | EDIT_PROJECT,
};

/* The task as it would be: every limit of a new task holds for an edited one. */
static enum verdict edit_limits(struct step *step, const struct task *task,
                                const struct task_edit *edit, struct task_spec *ret)
{
    query_task_spec(step->core, task->id, step->out->arena, ret);
    spec_edit_task(ret, edit);
    const char *limit;
    int64_t max;
    return spec_limits_task(ret, &limit, &max) ? VERDICT_OK : step_refuse_limit(step, limit, max);
}

/* What it would ask for: the amounts, the nodes it avoids, those it needs, anew. */
static enum verdict edit_request(struct step *step, const struct task_edit *edit,
                                 const struct request *now, struct request *ret)
{
    enum verdict verdict = VERDICT_OK;
    if (edit->fields & EDIT_RESOURCES) {
        verdict = decide_submit_request(step, edit->asks, ret);
        ret->avoid_count = now->avoid_count;
        memcpy(ret->avoid, now->avoid, sizeof ret->avoid);
        ret->label_count = now->label_count;
        memcpy(ret->labels, now->labels, sizeof ret->labels);
    } else {
        *ret = *now;
    }
    if (edit->fields & EDIT_LABELS) {
        memset(ret->labels, 0, sizeof ret->labels);
        ret->label_count = label_marks(edit->node_labels, edit->node_label_count, ret->labels);
    }
    if (verdict == VERDICT_OK && edit->fields & EDIT_AVOID) {
        verdict = decide_submit_avoid(step, edit->avoid, edit->avoid_count, ret);
    }
    return verdict;
}

/* Where it would be, and what it would ask for there: is that ever possible (P9)? */
static enum verdict edit_place(struct step *step, const struct task *task,
                               const struct task_spec *spec, struct fact *fact)
{
    const struct task_edit *edit = &fact->task_edited.edit;
    const struct pool *pool = query_pool(step->core, task->pool);
    const struct shape *shape = query_task_shape(step->core, task->shape);
    const struct form *form = shape_form(shape);
    const struct request *request = &shape->request;
    enum verdict verdict = VERDICT_OK;
    if (edit->fields & EDIT_POOL) {
        pool = query_pool_named(step->core, edit->pool);
        if (pool == NULL) {
            step_refuse(step, REASON_UNKNOWN_POOL, edit->pool);
            return VERDICT_REFUSED;
        }
        fact->task_edited.pool = pool->id;
        verdict = decide_submit_accepts(step, pool, task->kind);
    }
    if (verdict == VERDICT_OK && edit->fields & EDIT_REQUEST) {
        struct request *next = arena_new(step->out->arena, struct request, 1);
        verdict = edit_request(step, edit, request, next);
        fact->task_edited.request = next;
        request = next;
    }
    if (verdict == VERDICT_OK && edit->fields & EDIT_FORM) {
        form = form_of_topology(spec, request, step->out->arena);
    }
    if (verdict == VERDICT_OK && pool != NULL) {
        verdict = form != NULL ? decide_form_possible(step, pool, form, NULL)
                               : decide_submit_possible(step, pool, request, task_gang_size(task));
    }
    return verdict;
}

/* The first of the fields that do not change at any time. */
static const char *edit_what(uint32_t fields)
{
    return fields & EDIT_RESOURCES  ? "resources"
           : fields & EDIT_AVOID    ? "nodes to avoid"
           : fields & EDIT_LABELS   ? "node labels"
           : fields & EDIT_TOPOLOGY ? "topology"
                                    : "project";
}

static enum reason_code edit_hindrance(const struct core *core, const struct task *task,
                                       uint32_t fields)
{
    if (fields & EDIT_NEEDS_REST && task->active_count > 0) {
        return REASON_HOLDS_PLACES;
    }
    const bool grouped = form_grouped(shape_form(query_task_shape(core, task->shape)));
    return fields & EDIT_FORM && grouped ? REASON_HAS_GROUPS : REASON_NONE;
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
        step_refuse(step, hindrance, edit_what(edit->fields))->task = task->id;
        return VERDICT_CONFLICT;
    }
    struct task_spec spec;
    struct fact would = {.task_edited = {.task = task->id, .edit = *edit, .pool = task->pool}};
    verdict = edit_limits(step, task, edit, &spec);
    if (verdict == VERDICT_OK && edit->fields & EDIT_PROJECT) {
        verdict = decide_submit_project(step, edit->project, &would.task_edited.account);
    }
    if (verdict == VERDICT_OK && edit->fields & (EDIT_POOL | EDIT_FORM)) {
        verdict = edit_place(step, task, &spec, &would);
    }
    if (verdict != VERDICT_OK || edit->fields == 0) {
        return verdict;
    }
    pool_id pool = would.task_edited.pool;
    step_fact(step, FACT_TASK_EDITED)->task_edited = would.task_edited;
    if (edit->fields & EDIT_POOL && pool.v != task->pool.v) {
        settle_stop(step, task->id, END_MOVED, true);
    }
    return VERDICT_OK;
}
