/* apply_task.c - facts of tasks.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/arena.h"
#include "base/must.h"
#include "core/apply/apply.h"
#include "core/model/form.h"
#include "core/model/form_grow.h"
#include "core/model/oindex.h"
#include "core/model/spec.h"
#include "core/model/table.h"
#include "core/model/task.h"
#include "core/state/change.h"
#include "core/state/depends.h"
#include "core/state/fact.h"
#include "core/state/fallback.h"
#include "core/state/key.h"
#include "core/state/lengths.h"
#include "core/state/query.h"
#include "core/state/state.h"
#include "core/state/typical.h"

static void instances_add(struct core *core, const struct task *task)
{
    for (uint32_t i = 0; i < task->instance_count; i++) {
        struct instance *instance = table_add(&core->instances);
        instance->task = task->id;
        instance->index = i;
        instance->state = INSTANCE_WAITING;
    }
}

/* Records the dependencies of a new task. A dependency on a task that has ended does not bind. If the
 * dependency ended in a way that cannot release the new task, decide_submit.c has added a fact that fails the
 * new task. */
static void depends_add(struct core *core, struct task *task, const struct task_spec *spec)
{
    for (uint32_t i = 0; i < spec->depends_count; i++) {
        task_id id = {spec->depends_on[i]};
        must(id.v < task->id.v);
        const struct task *dependency = query_task(core, id);
        if (dependency == NULL || task_state_ended(dependency->state) || depends_twice(spec, i)) {
            task->depends_met |= (uint64_t)1 << i;
            continue;
        }
        must(oindex_insert(&core->orders[ORDER_DEPENDENT], key_depends(task->id, spec, i)));
        task->depends_left++;
    }
}

void apply_task_submitted(struct core *core, const struct fact *fact)
{
    const struct task_spec *spec = fact->task_submitted.spec;
    must(fact->task_submitted.task.v == core->tasks.last + 1);
    struct task *task = table_add(&core->tasks);
    task->id = fact->task_submitted.task;
    task->pool = fact->task_submitted.pool;
    task->instance_first = core->instances.last + 1;
    task->instance_count = spec->instances;
    task->waiting_count = spec->instances;
    task->rank = (int64_t)core->seq;
    task->submitted_ms = fact->time_ms;
    task->queued_ms = fact->time_ms;
    task->state = spec->stage ? TASK_STAGED : TASK_PENDING;
    task->min_count = spec->gang && spec->min_instances > 0 ? spec->min_instances : spec->instances;
    if (form_grouped(fact->task_submitted.form)) {
        task->min_count = form_min(fact->task_submitted.form);
        task->by_groups = form_grow_elastic(fact->task_submitted.form);
    }
    change_task_spec_set(core, task, spec, fact->task_submitted.spec_bytes);
    instances_add(core, task);
    depends_add(core, task, spec);
    task->shape = change_shape_take(core, task->pool, task_gang_size(task),
                                    fact->task_submitted.request, fact->task_submitted.form);
    task->account = fact->task_submitted.account;
    task->user = change_user_take(core, spec->user != NULL ? spec->user : "");
    lengths_expect(core, task);
    change_account_count(core, task->account, 1);
    change_pool_edit(core, task->pool)->task_count++;
    typical_learn(core, task->pool, fact->task_submitted.request, task->instance_count);
    fallback_set(core, task, spec);
    struct task_mark mark;
    change_task_mark_new(core, task, &mark);
    change_task_close(core, task, &mark);
}

void apply_task_queued(struct core *core, const struct fact *fact)
{
    struct task_mark mark;
    struct task *task = change_task_open(core, fact->task.task, &mark);
    must(task->state == TASK_STAGED || task->pause_asked);
    task->pause_asked = 0;
    if (task->active_count == 0) {
        task->state = TASK_PENDING;
    }
    task->queued_ms = fact->time_ms;
    lengths_expect(core, task);
    change_task_ends_moved(core, task);
    change_task_close(core, task, &mark);
}

void apply_task_hold_ended(struct core *core, const struct fact *fact)
{
    struct task_mark mark;
    struct task *task = change_task_open(core, fact->task.task, &mark);
    must(task->hold_until_ms > 0);
    task->hold_until_ms = 0;
    change_task_close(core, task, &mark);
}

void apply_task_paused(struct core *core, const struct fact *fact)
{
    struct task_mark mark;
    struct task *task = change_task_open(core, fact->task.task, &mark);
    must(!task->pause_asked);
    task->pause_asked = 1;
    if (task->cause == END_IDLE_PAUSED) {
        task->cause = END_NONE; /* the cause was that of an earlier pause */
    }
    change_task_close(core, task, &mark);
}

/* Applies the word that a task does nothing. The fact is for people and changes nothing, because
 * what a task uses is no part of the state. */
void apply_task_idle(struct core *core, const struct fact *fact)
{
    must(query_task(core, fact->task_idle.task) != NULL);
}

void apply_task_kill_asked(struct core *core, const struct fact *fact)
{
    struct task_mark mark;
    struct task *task = change_task_open(core, fact->task.task, &mark);
    must(!task->kill_asked);
    task->kill_asked = 1;
    change_task_give_up(core, task, END_KILLED, fact->time_ms);
    change_task_close(core, task, &mark);
}

static void outcome_set(struct core *core, task_id id, enum task_state state)
{
    must(task_state_ended(state));
    static const uint8_t codes[TASK_STATE_COUNT] = {
        [TASK_COMPLETED] = 0, [TASK_FAILED] = 1, [TASK_KILLED] = 2, [TASK_UNKNOWN] = 3};
    uint64_t at = id.v / OUTCOMES_PER_ROW + 1;
    if (state == TASK_COMPLETED) {
        return;
    }
    struct outcome_row *row = table_edit(&core->outcomes, at);
    if (row == NULL) {
        row = table_put(&core->outcomes, at);
    }
    row->bits |= (uint64_t)codes[state] << id.v % OUTCOMES_PER_ROW * 2;
}

/* Releases the first `max` tasks in ORDER_DEPENDENT that wait for the ended task `id`. */
static void dependents_release(struct core *core, task_id id, enum task_state state, uint32_t max)
{
    struct okey key;
    for (uint32_t i = 0; i < max && depends_first(core, id, &key); i++) {
        if (!depends_freed(key, state)) {
            return;
        }
        must(oindex_remove(&core->orders[ORDER_DEPENDENT], key));
        struct task_mark mark;
        struct task *task = change_task_open(core, (task_id){key.at[2]}, &mark);
        must(task->depends_left > 0);
        task->depends_left--;
        task->depends_met |= (uint64_t)1 << key.at[3];
        change_task_close(core, task, &mark);
    }
}

void apply_task_released(struct core *core, const struct fact *fact)
{
    const struct task *task = query_task(core, fact->released.task);
    must(task != NULL);
    must(task_state_ended(task->state));
    dependents_release(core, fact->released.task, task->state, fact->released.count);
}

/* Removes the dependencies that still bind a task, because the task ends. */
static void depends_forget(struct core *core, struct task *task)
{
    if (task->depends_left == 0) {
        return;
    }
    struct arena arena;
    arena_init(&arena);
    struct task_spec spec;
    query_task_spec(core, task->id, &arena, &spec);
    for (uint32_t i = 0; i < spec.depends_count; i++) {
        if ((task->depends_met >> i & 1) == 0) {
            must(oindex_remove(&core->orders[ORDER_DEPENDENT], key_depends(task->id, &spec, i)));
            task->depends_left--;
            task->depends_met |= (uint64_t)1 << i;
        }
    }
    arena_done(&arena);
    must(task->depends_left == 0);
}

/* The moment at which the last instance of the task ended. All instances have ended. */
static int64_t instances_ended_ms(const struct core *core, const struct task *task)
{
    int64_t last_ms = 0;
    for (uint32_t i = 0; i < task->instance_count; i++) {
        int64_t ended_ms = query_instance_row(core, task->instance_first + i)->ended_ms;
        last_ms = ended_ms > last_ms ? ended_ms : last_ms;
    }
    return last_ms;
}

void apply_task_ended(struct core *core, const struct fact *fact)
{
    enum task_state state = fact->task_ended.state;
    struct task_mark mark;
    struct task *task = change_task_open(core, fact->task_ended.task, &mark);
    must(task_state_ended(state));
    must(!task_state_ended(task->state));
    must(task->active_count == 0);
    task_id id = task->id;
    change_task_give_up(core, task, fact->task_ended.cause, fact->time_ms);
    depends_forget(core, task);
    task->state = (uint8_t)state;
    task->cause = (uint8_t)fact->task_ended.cause;
    task->exit_code = fact->task_ended.exit_code;
    task->ended_ms = instances_ended_ms(core, task);
    must(change_pool_edit(core, task->pool)->task_count > 0);
    change_pool_edit(core, task->pool)->task_count--;
    change_account_count(core, task->account, -1);
    change_task_close(core, task, &mark);
    outcome_set(core, id, state);
    must(oindex_insert(&core->orders[ORDER_DEADLINE], key_settle(task)));
    dependents_release(core, id, state, fact->task_ended.released);
}

void apply_task_archived(struct core *core, const struct fact *fact)
{
    const struct task *task = query_task(core, fact->task.task);
    must(task != NULL);
    must(task_state_ended(task->state));
    must(!task->queued);
    task_id id = task->id;
    struct okey key;
    must(!depends_first(core, id, &key));
    must(oindex_remove(&core->orders[ORDER_DEADLINE], key_settle(task)));
    for (uint32_t i = 0; i < task->instance_count; i++) {
        table_remove(&core->instances, task->instance_first + i);
    }
    if (query_task_eviction(core, id) != NULL) {
        table_remove(&core->evictions, id.v);
    }
    fallback_forget(core, table_edit(&core->tasks, id.v));
    change_shape_drop(core, task->shape);
    change_user_drop(core, task->user);
    table_remove(&core->tasks, id.v);
}
