/* settle.c - what follows when an attempt or a task ends.
 *
 *   attempt ends ─▶ the instance waits again        (lost, preempted, retries left, gang begins again)
 *       │      └──▶ for good ─▶ the last instance: the task ends ─▶ dependents are released or fail, and their dependents
 *       └─ the end breaks a gang ─▶ the other instances are told to stop (P2)
 *
 * Ended tasks are handled in a list, never by recursion, because chains of dependents can have any length. A
 * step handles SETTLE_MAX dependents. An ended task for which more tasks wait is archived later, by ticks.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core/decide/settle.h"

#include "base/must.h"
#include "base/vec.h"
#include "core/decide/decide.h"
#include "core/decide/step.h"
#include "core/model/input.h"
#include "core/model/instance.h"
#include "core/model/losses.h"
#include "core/model/oindex.h"
#include "core/model/restart.h"
#include "core/state/depends.h"
#include "core/state/fact.h"
#include "core/state/gang.h"
#include "core/state/key.h"
#include "core/state/query.h"
#include "core/state/state.h"

/* The end cause of an attempt. An attempt that was told to stop ends for the cause of that order, whatever
 * its exit code. An attempt that fails while its gang is broken ends because of the gang. */
static enum end_cause cause_of(const struct task *task, const struct instance *instance,
                               const struct report *report)
{
    must(instance_active(instance));
    if (instance->state == INSTANCE_STOPPING) {
        return instance->cause;
    }
    switch (report->type) {
    case REPORT_ENDED:
        if (report->out_of_memory && report->exit_code != 0) {
            return END_MEMORY;
        }
        if (report->out_of_disk && report->exit_code != 0) {
            return END_DISK;
        }
        return task->stale_ms > 0 && report->exit_code != 0 ? END_GANG : END_EXIT;
    case REPORT_SPAWN_FAILED:
        return END_SPAWN;
    case REPORT_STARTED:
    case REPORT_CHECKPOINT:
    case REPORT_LOST:
    case REPORT_UNKNOWN:
        break;
    }
    return END_NODE_LOST;
}

static bool retries_left(const struct task *task, const struct instance *instance)
{
    return (task->gang ? task->retries : instance->retries) < task->max_retries;
}

/* Which start in a row follows after this end by the task's rule for restarts; 0: none. */
static uint32_t restarts_of(const struct task *task, const struct instance *instance,
                            const struct report *report, enum end_cause cause, int64_t at_ms)
{
    const bool by_itself = cause == END_EXIT || cause == END_SPAWN || cause == END_MEMORY ||
                           cause == END_DISK || cause == END_UNHEALTHY;
    const bool failed = instance_failed(cause, report->exit_code);
    return by_itself && restart_again(task, instance, failed, at_ms) ? restart_next(instance, at_ms)
                                                                     : 0;
}

static bool again_of(const struct task *task, const struct instance *instance,
                     const struct report *report, enum end_cause cause, int64_t at_ms)
{
    must(instance->task.v == task->id.v);
    if (task->kill_asked || task_gang_doomed(task)) {
        return false;
    }
    switch (cause) {
    case END_EXIT:
    case END_SPAWN:
    case END_MEMORY:
    case END_DISK:
    case END_UNHEALTHY:
        return restarts_of(task, instance, report, cause, at_ms) > 0 ||
               (instance_failed(cause, report->exit_code) && retries_left(task, instance));
    case END_PREEMPTED:
    case END_PAUSED:
    case END_IDLE_PAUSED:
    case END_MOVED:
    case END_GANG:
    case END_POOL:
    case END_REPLACED:
        return true;
    case END_NODE_LOST:
    case END_NODE_REMOVED:
    case END_DEVICE:
        /* An attempt that its supervisor never saw has not run, so another attempt is no repetition. */
        return task->repeatable ||
               (report->type == REPORT_UNKNOWN && instance->state == INSTANCE_STARTING);
    case END_NONE:
    case END_KILLED:
    case END_TIME_LIMIT:
    case END_IDLE:
    case END_DEPENDENCY:
    case END_LOSSES:
        break;
    }
    return false;
}

/* An attempt was lost together with its node or supervisor. Sets until when the task waits. Returns END_LOSSES
 * where the instance was lost too often. An attempt that no supervisor ever saw (REPORT_UNKNOWN) cannot have
 * caused the loss. */
static enum end_cause loss_judge(const struct step *step, const struct task *task,
                                 const struct instance *instance, int64_t *ret_until_ms)
{
    const int64_t now_ms = step->in->now_ms;
    const uint32_t losses = losses_next(instance, now_ms);
    must(losses > 0);
    if (task->max_losses > 0 && losses >= task->max_losses) {
        return END_LOSSES;
    }
    const int64_t wait_ms = losses_wait_ms(task->id, instance->index, losses);
    *ret_until_ms = wait_ms > 0 ? now_ms + wait_ms : 0;
    return END_NODE_LOST;
}

void settle_stop_one(struct step *step, const struct task *task, const struct instance *instance,
                     enum end_cause cause)
{
    must(instance_active(instance));
    int64_t deadline_ms = step->in->now_ms + task->grace_ms;
    bool stopping = instance->state == INSTANCE_STOPPING;
    struct fact *fact = step_fact(step, FACT_ATTEMPT_STOPPING);
    fact->attempt_stopping.key =
        (struct attempt_key){instance->task, instance->index, instance->attempt};
    fact->attempt_stopping.cause = cause;
    fact->attempt_stopping.deadline_ms = stopping && instance->stop_deadline_ms < deadline_ms
                                             ? instance->stop_deadline_ms
                                             : deadline_ms;
}

void settle_stop(struct step *step, task_id id, enum end_cause cause, bool running_only)
{
    const struct core *core = step_state(step);
    const struct task *task = query_task(core, id);
    must(task != NULL);
    uint32_t left = task->active_count;
    for (uint32_t i = 0; left > 0; i++) {
        const struct instance *instance = query_instance(core, id, i);
        must(instance != NULL);
        if (!instance_active(instance)) {
            continue;
        }
        left--;
        bool stopping = instance->state == INSTANCE_STOPPING;
        /* A kill does not rename an eviction under way: the attempt stays preempted. */
        bool kept = cause == END_KILLED && instance->cause == END_PREEMPTED;
        if (!stopping || (!running_only && instance->cause != cause && !kept)) {
            settle_stop_one(step, task, instance, cause);
        }
    }
}

/* ---- the end of a task ---- */

/* How many tasks that wait for task `id` are released when `id` ends in this state, as far as this step may
 * go. */
static uint32_t freed_count(const struct step *step, const struct core *core, task_id id,
                            enum task_state state)
{
    must(step->settled <= SETTLE_MAX);
    const struct oindex *order = &core->orders[ORDER_DEPENDENT];
    uint32_t count = 0;
    struct okey key;
    bool more = depends_first(core, id, &key);
    while (more && depends_freed(key, state) && step->settled + count < SETTLE_MAX) {
        count++;
        more = oindex_next(order, key, &key) && key.at[0] == id.v;
    }
    return count;
}

static void task_end(struct step *step, const struct core *core, const struct fact *like)
{
    uint32_t released = freed_count(step, core, like->task_ended.task, like->task_ended.state);
    struct fact *fact = step_fact(step, FACT_TASK_ENDED);
    fact->task_ended = like->task_ended;
    fact->task_ended.released = released;
    step->settled += released;
}

/* Handles the first tasks that wait for the ended task `id`: either releases some, or fails the first one
 * (`*ret_failed`). */
static void dependent_settle(struct step *step, const struct core *core, task_id id,
                             struct okey first, task_id *ret_failed)
{
    const struct task *task = query_task(core, id);
    must(task != NULL);
    must(task_state_ended(task->state));
    *ret_failed = (task_id){0};
    if (depends_freed(first, task->state)) {
        uint32_t count = freed_count(step, core, id, task->state);
        struct fact *fact = step_fact(step, FACT_DEPENDENTS_RELEASED);
        fact->released.task = id;
        fact->released.count = count;
        step->settled += count;
        return;
    }
    *ret_failed = (task_id){first.at[2]};
    struct fact end = {.task_ended = {.task = *ret_failed,
                                      .state = TASK_FAILED,
                                      .cause = END_DEPENDENCY,
                                      .exit_code = EXIT_CODE_WEIR}};
    step->settled++;
    task_end(step, core, &end);
}

void settle_dependents(struct step *step, task_id id)
{
    VEC(task_id) ended = {0};
    vec_push(&ended, id);
    for (size_t i = 0; i < ended.count; i++) {
        const struct core *core = step_state(step);
        must(query_task(core, ended.at[i]) != NULL); /* an ended task stays until it is archived */
        struct okey key;
        bool awaited;
        while ((awaited = depends_first(core, ended.at[i], &key)) && step->settled < SETTLE_MAX) {
            task_id failed;
            dependent_settle(step, core, ended.at[i], key, &failed);
            if (failed.v != 0) {
                vec_push(&ended, failed);
            }
            core = step_state(step);
        }
        if (!awaited) {
            step_fact(step, FACT_TASK_ARCHIVED)->task.task = ended.at[i];
        }
    }
    vec_done(&ended);
}

void settle_task(struct step *step, task_id id, enum task_state state, enum end_cause cause,
                 int32_t exit_code)
{
    /* The facts of this step that the scratch copy has not seen cannot add or remove a dependent of `id`. */
    const struct core *core = step->scratch != NULL ? step->scratch : step->core;
    must(task_state_ended(state));
    must(query_task(core, id) != NULL);
    struct okey key;
    bool awaited = depends_first(core, id, &key);
    struct fact end = {
        .task_ended = {.task = id, .state = state, .cause = cause, .exit_code = exit_code}};
    task_end(step, core, &end);
    if (awaited) {
        settle_dependents(step, id);
    } else {
        step_fact(step, FACT_TASK_ARCHIVED)->task.task = id;
    }
}

/* The exit code that a shell gives for a program that does not exist or cannot be run. */
static int32_t spawn_exit_code(int32_t error_number)
{
    enum { LINUX_ENOENT = 2, LINUX_ENOEXEC = 8, LINUX_EACCES = 13 };
    if (error_number == LINUX_ENOENT) {
        return EXIT_CODE_NOT_FOUND;
    }
    return error_number == LINUX_EACCES || error_number == LINUX_ENOEXEC ? EXIT_CODE_NOT_RUN
                                                                         : EXIT_CODE_WEIR;
}

/* How a task ends when its last instance ends with the fact `ending`. The rows do not have this end yet. */
static void task_end_of(const struct core *core, const struct task *task, const struct fact *ending,
                        struct fact *ret)
{
    const struct report *report = &ending->attempt_ended.report;
    must(report->key.index < task->instance_count);
    enum end_cause cause = ending->attempt_ended.cause;
    bool fails = instance_failed(cause, report->exit_code);
    ret->task_ended.task = task->id;
    ret->task_ended.state = TASK_COMPLETED;
    ret->task_ended.cause = END_EXIT;
    ret->task_ended.exit_code = 0;
    if (task->kill_asked) {
        ret->task_ended.state = TASK_KILLED;
        ret->task_ended.cause = END_KILLED;
        ret->task_ended.exit_code = EXIT_CODE_KILLED;
    } else if (task->failed_count > 0 || fails) {
        ret->task_ended.state = TASK_FAILED;
    } else if (task->unknown_count > 0 || instance_lost(cause)) {
        ret->task_ended.state = TASK_UNKNOWN;
        ret->task_ended.cause = instance_lost(cause) ? cause : END_NODE_LOST;
        ret->task_ended.exit_code = EXIT_CODE_WEIR;
    }
    if (ret->task_ended.state != TASK_FAILED && ret->task_ended.state != TASK_KILLED) {
        return;
    }
    for (uint32_t i = 0; i < task->instance_count; i++) {
        const struct instance *instance = query_instance(core, task->id, i);
        must(instance != NULL);
        bool last = i == report->key.index;
        enum end_cause why = last ? cause : instance->cause;
        int32_t code = last ? report->exit_code : instance->exit_code;
        if (task->kill_asked ? code != 0 : instance_failed(why, code)) {
            ret->task_ended.cause = task->kill_asked ? END_KILLED : why;
            ret->task_ended.exit_code = why == END_SPAWN ? spawn_exit_code(code)
                                        : why == END_LOSSES || (why == END_UNHEALTHY && code == 0)
                                            ? EXIT_CODE_WEIR
                                            : code;
            return;
        }
    }
}

/* ---- the end of an attempt ---- */

/* Does the gang keep its minimum without this instance, which will wait again? */
static bool gang_goes_on(const struct core *core, const struct task *task,
                         const struct instance *instance, bool again)
{
    return again && gang_without(core, task, instance);
}

int64_t settle_report_ms(const struct step *step, const struct instance *instance,
                         const struct report *report)
{
    int64_t now_ms = step->in->now_ms;
    int64_t first_ms = instance->started_ms > 0 ? instance->started_ms : instance->allocated_ms;
    bool seen = report->type != REPORT_LOST && report->type != REPORT_UNKNOWN;
    int64_t at_ms = seen && report->at_ms < now_ms ? report->at_ms : now_ms;
    return at_ms < first_ms ? first_ms : at_ms;
}

void settle_attempt(struct step *step, const struct report *report)
{
    const struct core *core = step_state(step);
    const struct instance *instance = query_instance_live(core, report->key);
    must(instance != NULL);
    const struct task *task = query_task(core, report->key.task);
    enum end_cause cause = cause_of(task, instance, report);
    int64_t hold_until_ms = 0;
    if (cause == END_NODE_LOST && report->type == REPORT_LOST && task->repeatable) {
        cause = loss_judge(step, task, instance, &hold_until_ms);
    }
    const int64_t at_ms = settle_report_ms(step, instance, report);
    bool again = again_of(task, instance, report, cause, at_ms);
    const uint32_t restarts = again ? restarts_of(task, instance, report, cause, at_ms) : 0;
    if (restarts > 0) {
        hold_until_ms = step->in->now_ms + restart_wait_ms(task, restarts);
    }
    bool breaks = instance_failed(cause, report->exit_code) || instance_lost(cause) ||
                  (cause == END_GANG && instance->state != INSTANCE_STOPPING);
    bool broken = task->gang && task->active_count > 1 && breaks &&
                  !gang_goes_on(core, task, instance, again) &&
                  !(instance_lost(cause) && again && gang_grace_ms(core, task) != 0);
    /* A gang that has failed for good ends with its last active instance: its waiting instances will never
     * run. */
    bool doomed = task_gang_doomed(task) || (task->gang && breaks);
    bool last = !again && task->active_count == 1 &&
                (doomed || task->ended_count + 1 == task->instance_count);

    struct fact *ended = step_fact(step, FACT_ATTEMPT_ENDED);
    ended->attempt_ended.report = *report;
    ended->attempt_ended.report.at_ms = at_ms;
    ended->attempt_ended.cause = cause;
    ended->attempt_ended.again = again;
    ended->attempt_ended.hold_until_ms = again ? hold_until_ms : 0;
    ended->attempt_ended.restarts = restarts;
    const bool lost = again && instance_lost(cause) && task->listed;
    if (broken) {
        settle_stop(step, report->key.task, END_GANG, true);
    }
    if (lost) {
        core = step_state(step);
        decide_fallback_lost(step, core, query_task(core, report->key.task));
    }
    if (last) {
        struct fact end = {0};
        task_end_of(core, task, ended, &end);
        settle_task(step, end.task_ended.task, end.task_ended.state, end.task_ended.cause,
                    end.task_ended.exit_code);
    }
}

void settle_node(struct step *step, node_id node)
{
    while (true) {
        struct attempt_key key = {0};
        const struct instance *instance = query_node_instance_next(step_state(step), node, &key);
        if (instance == NULL) {
            return;
        }
        must(instance->node.v == node.v);
        settle_attempt(step, &(struct report){.type = REPORT_LOST,
                                              .key = key,
                                              .incarnation = instance->incarnation,
                                              .at_ms = step->in->now_ms});
    }
}
