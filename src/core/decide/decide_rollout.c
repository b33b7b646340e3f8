/* decide_rollout.c - one service takes the place of another, instance by instance (model/rollout.h).
 *
 *   a new instance waits ─▶ it is ready ─▶ an old one takes no more requests ─▶ drain_ms later it is told to stop ─▶ it is held
 *         ▲                                                                                                          │
 *         └──────────────────────────────────────────────────────────────────────────────────────────────────────────┘
 *
 * What is to be done follows from the rows of both tasks alone, so a step whose facts are about one of the two tasks looks at the
 * rollout, and nothing is remembered from step to step. A rollout never ends an old instance that takes requests before a
 * new instance takes requests in its place, unless the user asked for that (old_first).
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/must.h"
#include "core/decide/decide.h"
#include "core/decide/settle.h"
#include "core/decide/step.h"
#include "core/model/input.h"
#include "core/model/instance.h"
#include "core/model/rollout.h"
#include "core/model/table.h"
#include "core/model/task.h"
#include "core/state/fact.h"
#include "core/state/query.h"
#include "core/state/state.h"

/* ---- the beginning ---- */

/* Refuses the replacement of the task, for the reason `text`. */
static enum verdict refuse(struct step *step, task_id task, const char *text)
{
    step_refuse(step, REASON_NO_ROLLOUT, text)->task = task;
    return VERDICT_CONFLICT;
}

enum verdict decide_rollout_check(struct step *step)
{
    const struct task_spec *spec = step->in->submit.specs;
    if (step->in->submit.replaces == NULL) {
        return VERDICT_OK;
    }
    must(step->in->submit.count == 1);
    const task_id from = step->in->submit.replaces->from;
    const struct task *task = query_task(step->core, from);
    if (task == NULL || task_state_ended((enum task_state)task->state) || task->kill_asked) {
        return refuse(step, from, "it has ended");
    }
    if (task->kind != TASK_SERVICE || spec->kind != TASK_SERVICE) {
        return refuse(step, from, "only a service is replaced, and by a service");
    }
    if (task->gang || spec->gang || spec->group_count > 0) {
        return refuse(step, from, "the instances of a gang are not replaced one by one");
    }
    if (task->rollout.v != 0) {
        step_refuse(step, REASON_ROLLOUT_GOES, "")->task = from;
        return VERDICT_CONFLICT;
    }
    if (task->state == TASK_STAGED || task->pause_asked || spec->stage) {
        return refuse(step, from, "it is staged or paused");
    }
    account_id project = {0};
    const enum verdict verdict = decide_submit_project(step, spec->project, &project);
    if (verdict == VERDICT_OK && project.v != task->account.v) {
        return refuse(step, from, "a service stays in its project");
    }
    return verdict;
}

static void row_fact(struct step *step, task_id id, const struct rollout *row)
{
    struct fact *fact = step_fact(step, FACT_ROLLOUT);
    fact->rollout.task = id;
    fact->rollout.row = *row;
}

static void held_fact(struct step *step, task_id task, uint32_t first, uint32_t count, bool held)
{
    struct fact *fact = step_fact(step, FACT_INSTANCES_HELD);
    fact->held.task = task;
    fact->held.first = first;
    fact->held.count = count;
    fact->held.held = held;
}

void decide_rollout_begin(struct step *step, task_id to)
{
    const struct rollout_ask *ask = step->in->submit.replaces;
    if (ask == NULL) {
        return;
    }
    const struct rollout row = {.from = ask->from,
                                .to = to,
                                .drain_ms = ask->drain_ms,
                                .within_ms = ask->within_ms,
                                .until_ms = step->in->now_ms + ask->within_ms,
                                .since_ms = step->in->now_ms,
                                .phase = ROLLOUT_GOING,
                                .old_first = ask->old_first};
    row_fact(step, to, &row);
    held_fact(step, to, 0, step->in->submit.specs[0].instances, true);
}

/* ---- what the two tasks have ---- */

struct rollout_side {
    const struct task *task;
    uint32_t ready; /* instances that take requests, or that ended without a failure */
    uint32_t begun; /* instances that have their turn and are not ready */
    uint32_t
        left; /* instances that were told to stop for the rollout, or are held, or have ended */
    uint32_t held_first;
};

static void side_count(const struct core *core, task_id id, struct rollout_side *ret)
{
    *ret = (struct rollout_side){.task = query_task(core, id)};
    const struct task *task = ret->task;
    must(task != NULL);
    ret->held_first = task->instance_count;
    for (uint32_t i = 0; i < task->instance_count; i++) {
        const struct instance *instance = query_instance(core, id, i);
        const bool held = instance->state == INSTANCE_HELD;
        const bool ended = instance->state == INSTANCE_ENDED;
        const bool stopped =
            instance->state == INSTANCE_STOPPING && instance->cause == END_REPLACED;
        const bool ready = ended || instance_ready(task, instance);
        ret->ready += ready;
        ret->left += held || ended || stopped;
        ret->begun += !ready && !held && !stopped;
        ret->held_first = held && i < ret->held_first ? i : ret->held_first;
    }
}

/* Is this task of the rollout gone, or on its way? */
static bool side_gone(const struct task *task)
{
    return task == NULL || task->kill_asked || task_state_ended((enum task_state)task->state);
}

/* ---- the end ---- */

/* How many neighbours from instance `first` on are in this state; at most `most`. One fact is about all of them. */
static uint32_t run_of(const struct core *core, const struct task *task, uint32_t first,
                       enum instance_state state, uint32_t most)
{
    uint32_t count = 0;
    while (count < most && first + count < task->instance_count &&
           query_instance(core, task->id, first + count)->state == state) {
        count++;
    }
    return count;
}

/* Lets every held instance of the task wait for a place. */
static void all_release(struct step *step, const struct task *task)
{
    const task_id id = task->id;
    uint32_t left = task->held_count;
    for (uint32_t i = 0; left > 0; i++) {
        const struct core *core = step_state(step);
        const uint32_t run = run_of(core, query_task(core, id), i, INSTANCE_HELD, left);
        if (run > 0) {
            held_fact(step, id, i, run, false);
            left -= run;
            i += run - 1;
        }
    }
}

static void rollout_end(struct step *step, task_id id, struct rollout row)
{
    row.phase = ROLLOUT_OVER;
    row.until_ms = 0;
    row.draining = 0;
    row_fact(step, id, &row);
}

/* One side is gone: the other one is whole again, and the rollout is over. */
static void rollout_abandon(struct step *step, task_id id, const struct rollout *row,
                            const struct task *stays)
{
    if (!side_gone(stays)) {
        all_release(step, stays);
    }
    rollout_end(step, id, *row);
}

/* The rollout stops: instances of the new task that are not ready end or are held, and the others stay. */
static void rollout_stop(struct step *step, task_id id, struct rollout row, enum rollout_why why)
{
    const struct core *core = step_state(step);
    const struct task *task = query_task(core, row.to);
    row.phase = ROLLOUT_STOPPED;
    row.why = (uint8_t)why;
    row.until_ms = 0;
    row.draining = 0;
    row_fact(step, id, &row);
    for (uint32_t i = 0; i < task->instance_count; i++) {
        core = step_state(step);
        task = query_task(core, row.to);
        const struct instance *instance = query_instance(core, row.to, i);
        if (instance->state == INSTANCE_WAITING) {
            held_fact(step, row.to, i, 1, true);
        } else if (instance_active(instance) && !instance_ready(task, instance)) {
            settle_stop_one(step, task, instance, END_REPLACED);
        }
    }
}

/* ---- one move ---- */

/* Of the old instances the next that goes: first one that waits, then one that takes no requests, then any. */
static uint32_t next_old(const struct core *core, const struct task *task)
{
    uint32_t found = task->instance_count;
    uint32_t best = 0;
    for (uint32_t i = 0; i < task->instance_count; i++) {
        const struct instance *instance = query_instance(core, task->id, i);
        const bool waits = instance->state == INSTANCE_WAITING;
        const uint32_t worth = waits                             ? 3
                               : !instance_stays(instance)       ? 0
                               : !instance_ready(task, instance) ? 2
                                                                 : 1;
        if (worth > best) {
            best = worth;
            found = i;
        }
    }
    return found;
}

/* Takes the place of one more old instance; of neighbours that wait, of up to `most`. False: none is left that was not told to stop. */
static bool old_take(struct step *step, task_id id, struct rollout row, uint32_t most)
{
    const struct core *core = step_state(step);
    const struct task *task = query_task(core, row.from);
    const uint32_t index = next_old(core, task);
    if (index == task->instance_count) {
        return false;
    }
    const struct instance *instance = query_instance(core, row.from, index);
    if (instance->state == INSTANCE_WAITING) {
        const uint32_t run = run_of(core, task, index, INSTANCE_WAITING, most);
        held_fact(step, row.from, index, run, true);
    } else if (!instance_ready(task, instance)) {
        settle_stop_one(step, task, instance, END_REPLACED);
    } else {
        row.draining = index + 1;
        row.until_ms = step->in->now_ms + row.drain_ms;
        row_fact(step, id, &row);
    }
    return true;
}

/* An old instance drains: when its time is over, or when it has ended by itself, the rollout goes on. */
static bool drain_look(struct step *step, task_id id, struct rollout row)
{
    const struct core *core = step_state(step);
    const struct task *task = query_task(core, row.from);
    const struct instance *instance = query_instance(core, row.from, row.draining - 1);
    const bool stays = instance_stays(instance);
    if (stays && step->in->now_ms < row.until_ms) {
        return false;
    }
    if (stays) {
        settle_stop_one(step, task, instance, END_REPLACED);
    }
    row.draining = 0;
    row.until_ms = step->in->now_ms + row.within_ms;
    row_fact(step, id, &row);
    return true;
}

/* How many old instances may be gone, so that as large a part of the old task is replaced as of the new task is ready. */
static uint32_t old_allowed(const struct rollout *row, const struct rollout_side *from,
                            const struct rollout_side *to)
{
    const uint64_t all = from->task->instance_count;
    const uint64_t even = to->ready * all / to->task->instance_count;
    const uint64_t more = even + row->old_first;
    return (uint32_t)(more < all ? more : all);
}

static void new_release(struct step *step, task_id id, struct rollout row, uint32_t index)
{
    held_fact(step, row.to, index, 1, false);
    row.until_ms = step->in->now_ms + row.within_ms;
    row_fact(step, id, &row);
}

/* The time for the next move is over. The new task is to blame unless old instances still stop. */
static void rollout_late(struct step *step, task_id id, struct rollout row,
                         const struct rollout_side *from, const struct rollout_side *to)
{
    if (from->task->stopping_count > 0 || to->begun == 0) {
        row.until_ms = step->in->now_ms + row.within_ms;
        row_fact(step, id, &row);
        return;
    }
    rollout_stop(step, id, row, to->task->waiting_count > 0 ? ROLLOUT_NO_PLACE : ROLLOUT_NOT_READY);
}

/* Makes the next move of a rollout that goes on. False: there is nothing to do now. */
static bool rollout_step(struct step *step, task_id id, const struct rollout *row,
                         const struct rollout_side *from, const struct rollout_side *to)
{
    if (to->task->failed_count > 0) {
        rollout_stop(step, id, *row, ROLLOUT_FAILED);
        return true;
    }
    if (row->draining != 0) {
        return drain_look(step, id, *row);
    }
    if (to->ready == to->task->instance_count && from->task->active_count == 0 &&
        from->task->waiting_count == 0) {
        settle_task(step, row->from, TASK_COMPLETED, END_REPLACED, 0);
        rollout_end(step, id, *row);
        return true;
    }
    const uint32_t allowed = old_allowed(row, from, to);
    if (from->left < allowed) {
        if (old_take(step, id, *row, allowed - from->left)) {
            return true;
        }
    } else if (to->begun == 0 && to->task->held_count > 0 && from->task->stopping_count == 0 &&
               to->task->stopping_count == 0) {
        new_release(step, id, *row, to->held_first);
        return true;
    }
    if (step->in->now_ms >= row->until_ms) {
        rollout_late(step, id, *row, from, to);
        return true;
    }
    return false;
}

/* True: the rollout has changed, and may do more. */
static bool rollout_move(struct step *step, task_id id)
{
    const struct core *core = step_state(step);
    const struct rollout *found = query_task_rollout(core, id);
    if (found == NULL) {
        return false;
    }
    const struct rollout row = *found;
    const struct task *old = query_task(core, row.from);
    const struct task *new = query_task(core, row.to);
    if (side_gone(old) || side_gone(new)) {
        rollout_abandon(step, id, &row, side_gone(old) ? new : old);
        return true;
    }
    if (row.phase != ROLLOUT_GOING) {
        return false;
    }
    struct rollout_side from;
    struct rollout_side to;
    side_count(core, row.from, &from);
    side_count(core, row.to, &to);
    return rollout_step(step, id, &row, &from, &to);
}

void decide_rollout_late(struct step *step, task_id id)
{
    while (rollout_move(step, id)) {
    }
}

/* The rollout that may have more to do because of the fact; 0: none. A fact of a pass begins no move. */
static task_id rollout_of(const struct core *core, const struct fact *fact)
{
    task_id id = {0};
    if (fact->type == FACT_ROLLOUT) {
        return fact->rollout.task;
    }
    if (fact->type == FACT_ATTEMPT_STARTED) {
        id = fact->attempt_started.key.task;
    } else if (fact->type == FACT_ATTEMPT_HEALTH) {
        id = fact->attempt_health.key.task;
    } else if (fact->type == FACT_ATTEMPT_STOPPING) {
        id = fact->attempt_stopping.key.task;
    } else if (fact->type == FACT_ATTEMPT_ENDED) {
        id = fact->attempt_ended.report.key.task;
    } else if (fact->type == FACT_TASK_KILL_ASKED) {
        id = fact->task.task;
    } else if (fact->type == FACT_TASK_ENDED) {
        id = fact->task_ended.task;
    }
    const struct task *task = query_task(core, id);
    return task != NULL ? task->rollout : (task_id){0};
}

void decide_rollout_go(struct step *step)
{
    const size_t count = step->out->count; /* the moves look at what follows from their own facts */
    task_id last = {0};
    for (size_t i = 0; i < count; i++) {
        const task_id id = rollout_of(step->core, &step->out->at[i]);
        if (id.v != 0 && id.v != last.v) {
            decide_rollout_late(step, id);
            last = id;
        }
    }
}

/* ---- what users ask ---- */

enum verdict decide_rollout_ask(struct step *step)
{
    enum verdict verdict = VERDICT_OK;
    const struct task *task = step_task(step, &verdict);
    if (task == NULL) {
        return verdict;
    }
    const struct rollout *found = query_task_rollout(step->core, task->rollout);
    if (found == NULL) {
        return refuse(step, task->id, "no update of it is under way");
    }
    struct rollout row = *found;
    const bool back = step->in->task.back;
    if (!back && (row.phase != ROLLOUT_STOPPED || row.why == ROLLOUT_FAILED)) {
        return refuse(step, task->id,
                      row.phase != ROLLOUT_STOPPED ? "its update has not stopped"
                                                   : "an instance of the new task failed for good");
    }
    if (back) {
        row.from = found->to;
        row.to = found->from;
        row.draining = 0;
    }
    row.phase = ROLLOUT_GOING;
    row.why = ROLLOUT_NOT_STOPPED;
    row.until_ms = step->in->now_ms + row.within_ms;
    row_fact(step, task->rollout, &row);
    return VERDICT_OK;
}
