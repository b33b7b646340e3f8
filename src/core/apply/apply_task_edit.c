/* apply_task_edit.c - what users change of tasks that exist: their fields, their pool, their place in the
 * queue. SPDX-License-Identifier: Apache-2.0 */
#include "base/arena.h"
#include "base/must.h"
#include "core/apply/apply.h"
#include "core/model/form.h"
#include "core/model/input.h"
#include "core/model/resource.h"
#include "core/model/shape.h"
#include "core/model/spec.h"
#include "core/model/spec_edit.h"
#include "core/model/task.h"
#include "core/state/change.h"
#include "core/state/fact.h"
#include "core/state/lengths.h"
#include "core/state/query.h"
#include "core/state/state.h"

enum {
    EDIT_SPEC = EDIT_NAME | EDIT_TAGS | EDIT_POOL | EDIT_PROJECT | EDIT_REQUEST | EDIT_TOPOLOGY
};

/* What of it is in the blob. */
static void spec_edit(struct core *core, struct task *task, const struct task_edit *edit)
{
    if ((edit->fields & EDIT_SPEC) == 0) {
        return;
    }
    struct arena arena;
    arena_init(&arena);
    struct task_spec spec;
    query_task_spec(core, task->id, &arena, &spec);
    struct task_edit kept = *edit; /* the rest is in the row */
    kept.fields &= EDIT_SPEC;
    spec_edit_task(&spec, &kept);
    change_task_spec_set(task, &spec);
    arena_done(&arena);
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

/* The form of a task, to be kept when its shape goes; NULL: it has none. */
static struct form *form_copy(const struct core *core, const struct task *task, struct arena *arena)
{
    const struct form *form = shape_form(query_task_shape(core, task->shape));
    return form == NULL ? NULL : arena_dup(arena, form, form_size(form));
}

static void pool_change(struct core *core, struct task *task, pool_id to)
{
    must(task->active_count == 0);
    change_claim_drop_all(core, task);
    struct arena arena;
    arena_init(&arena);
    const struct request request = query_task_shape(core, task->shape)->request;
    const struct form *form = form_copy(core, task, &arena);
    change_shape_drop(core, task->shape);
    must(change_pool_edit(core, task->pool)->task_count > 0);
    change_pool_edit(core, task->pool)->task_count--;
    task->pool = to;
    task->shape = change_shape_take(core, to, task_gang_size(task), &request, form);
    change_pool_edit(core, to)->task_count++;
    arena_done(&arena);
}

/* Another request (NULL: the same one), another topology, or both; the spec is the new one already. */
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

void apply_task_edit(struct core *core, const struct fact *fact)
{
    const struct task_edit *edit = &fact->task_edited.edit;
    struct task_mark mark;
    struct task *task = change_task_open(core, fact->task_edited.task, &mark);
    spec_edit(core, task, edit);
    if (edit->fields & EDIT_PRIORITY) {
        task->priority = edit->priority;
    }
    if (edit->fields & EDIT_RETRIES) {
        task->max_retries = edit->max_retries;
    }
    if (edit->fields & EDIT_GRACE) {
        task->grace_ms = edit->grace_ms;
    }
    if (edit->fields & EDIT_TIME_LIMIT) {
        time_limit_edit(core, task, edit->time_limit_ms);
        change_pool_due(core, task->pool); /* it may now end before a reservation begins */
    }
    if (edit->fields & (EDIT_REQUEST | EDIT_TOPOLOGY)) {
        const bool asks = (edit->fields & EDIT_REQUEST) != 0;
        shape_change(core, task, &mark, asks ? fact->task_edited.request : NULL);
    }
    if (edit->fields & EDIT_PROJECT && fact->task_edited.account.v != task->account.v) {
        project_change(core, task, &mark, fact->task_edited.account);
    }
    if (edit->fields & EDIT_POOL) {
        bool stays = fact->task_edited.pool.v == task->pool.v;
        task->pool_next = stays ? (pool_id){0} : fact->task_edited.pool;
        if (task->active_count == 0) {
            apply_task_edit_arrive(core, task);
        }
    }
    if (edit->fields & (EDIT_TIME_LIMIT | EDIT_NAME | EDIT_RESOURCES | EDIT_PROJECT)) {
        lengths_expect(core, task);
        change_task_ends_moved(core, task);
    }
    change_task_close(core, task, &mark);
}

void apply_task_edit_moved(struct core *core, const struct fact *fact)
{
    for (uint32_t i = 0; i < fact->task_moved.rank_count; i++) {
        struct task_mark mark;
        struct task *task = change_task_open(core, fact->task_moved.ranks[i].task, &mark);
        task->rank = fact->task_moved.ranks[i].rank;
        change_task_close(core, task, &mark);
    }
}

void apply_task_edit_arrive(struct core *core, struct task *task)
{
    pool_id to = task->pool_next;
    task->pool_next = (pool_id){0};
    if (to.v != 0 && query_pool(core, to) != NULL) {
        pool_change(core, task, to);
    }
}
