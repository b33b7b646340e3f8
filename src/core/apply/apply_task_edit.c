/* apply_task_edit.c - facts by which users change tasks: edits of fields, of the pool, and moves in the
 * queue.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/arena.h"
#include "base/must.h"
#include "core/apply/apply.h"
#include "core/model/form.h"
#include "core/model/input.h"
#include "core/model/resource.h"
#include "core/model/shape.h"
#include "core/model/spec.h"
#include "core/model/task.h"
#include "core/state/access.h"
#include "core/state/change.h"
#include "core/state/fact.h"
#include "core/state/fallback.h"
#include "core/state/lengths.h"
#include "core/model/object.h"
#include "core/model/spec_codec.h"
#include "core/state/query.h"
#include "core/state/state.h"

/* Sets the task's blob to its spec with the fields of the edit. The new spec is in `ret`. */
static void spec_edit(struct core *core, struct task *task, const struct task_edit *edit,
                      struct arena *arena, struct task_spec *ret)
{
    query_task_spec(core, task->id, arena, ret);
    object_edit(&task_object, edit->fields, ret, edit->spec);
    change_task_spec_set(core, task, ret, (struct str){0});
}

static void time_limit_edit(struct core *core, struct task *task, int64_t time_limit_ms)
{
    for (uint32_t i = 0; i < task->instance_count && task->active_count > 0; i++) {
        change_task_deadline_drop(core, task, query_instance_row(core, task->instance_first + i));
    }
    task->time_limit_ms = time_limit_ms;
    for (uint32_t i = 0; i < task->instance_count && task->active_count > 0; i++) {
        change_task_deadline_put(core, task, query_instance_row(core, task->instance_first + i));
    }
}

/* Gives the task a shape with another request (NULL: the same request) and the topology of its spec, which is
 * the new spec already. */
static void shape_change(struct core *core, struct task *task, struct task_mark *mark,
                         const struct request *request)
{
    struct arena arena;
    struct task_spec spec;
    const struct request now = query_task_shape(core, task->shape)->request;
    must(task->active_count == 0);
    change_claim_drop_all(core, task);
    change_usage_unwant(core, task, mark);
    arena_init(&arena);
    query_task_spec(core, task->id, &arena, &spec);
    request = request != NULL ? request : &now;
    const struct form *form = form_of_topology(&spec, request, &arena);
    change_shape_drop(core, task->shape);
    task->shape = change_shape_take(core, task->pool, task_gang_size(task), request, form);
    arena_done(&arena);
}

static void project_change(struct core *core, struct task *task, struct task_mark *mark,
                           account_id to)
{
    must(task->active_count == 0);
    change_claim_drop_all(core, task);
    change_usage_unwant(core, task, mark);
    change_account_count(core, task->account, -1);
    task->account = to;
    change_account_count(core, to, 1);
}

/* Sets the task's next pool. A task without active instances moves now. */
static void pool_edit_apply(struct core *core, struct task *task, pool_id to)
{
    task->pool_next = to.v == task->pool.v ? (pool_id){0} : to;
    if (task->active_count == 0) {
        apply_task_edit_arrive(core, task);
    }
}

void apply_task_edit(struct core *core, const struct fact *fact)
{
    enum {
        LENGTH = TASK_EDIT_time_limit | TASK_EDIT_name | TASK_EDIT_resources | TASK_EDIT_project,
        ENTRIES = TASK_EDIT_REQUEST | TASK_EDIT_topology | TASK_EDIT_project | TASK_EDIT_pools
    };
    const struct task_edit *edit = &fact->task_edited.edit;
    struct task_mark mark;
    struct task *task = change_task_open(core, fact->task_edited.task, &mark);
    must(!task_state_ended(task->state));
    const int64_t time_limit_ms = task->time_limit_ms;
    struct arena arena;
    struct task_spec spec;
    arena_init(&arena);
    spec_edit(core, task, edit, &arena, &spec);
    if (edit->fields & ENTRIES) {
        fallback_withdraw(core, task);
    }
    if (edit->fields & TASK_EDIT_time_limit) {
        /* the deadlines of the old time limit are removed first */
        task->time_limit_ms = time_limit_ms;
        time_limit_edit(core, task, spec.time_limit_ms);
        /* with the new limit the task may end before a reservation begins */
        change_pool_due(core, task->pool);
    }
    if (edit->fields & (TASK_EDIT_REQUEST | TASK_EDIT_topology)) {
        const bool asks = (edit->fields & TASK_EDIT_REQUEST) != 0;
        shape_change(core, task, &mark, asks ? fact->task_edited.request : NULL);
    }
    if (edit->fields & TASK_EDIT_project && fact->task_edited.account.v != task->account.v) {
        project_change(core, task, &mark, fact->task_edited.account);
        fallback_admit(core, task);
        access_task_set(core, task);
    }
    if (edit->fields & TASK_EDIT_pools) {
        pool_edit_apply(core, task, fact->task_edited.pool);
        fallback_set(core, task, &spec);
    }
    if (edit->fields & TASK_EDIT_fallback) {
        fallback_conditions_set(core, task, &spec);
    }
    if (edit->fields & LENGTH) {
        lengths_expect(core, task);
        change_task_ends_moved(core, task);
    }
    if (edit->fields & TASK_EDIT_preemption_delay) {
        change_pool_due(core, task->pool); /* the task may now evict others earlier */
    }
    arena_done(&arena);
    change_task_close(core, task, &mark);
}

void apply_task_edit_moved(struct core *core, const struct fact *fact)
{
    for (uint32_t i = 0; i < fact->task_moved.rank_count; i++) {
        struct task_mark mark;
        struct task *task = change_task_open(core, fact->task_moved.ranks[i].task, &mark);
        const int64_t rank = fact->task_moved.ranks[i].rank;
        task->overtaken = rank > task->rank && task->active_count > 0;
        task->rank = rank;
        change_task_close(core, task, &mark);
    }
}

void apply_task_edit_arrive(struct core *core, struct task *task)
{
    pool_id to = task->pool_next;
    task->pool_next = (pool_id){0};
    if (to.v != 0 && query_pool(core, to) != NULL) {
        change_task_pool_set(core, task, to);
        access_task_set(core, task);
    }
}
