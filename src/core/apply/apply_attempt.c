/* apply_attempt.c - facts of attempts. An instance goes from WAITING through an allocation to ENDED, or back
 * to WAITING.
 *
 *   WAITING ─allocated─▶ STARTING ─started─▶ RUNNING ─stopping─▶ STOPPING ─ended─▶ ENDED
 *      ▲                    └──────stopping──────────────────────▶ │  (again: back to WAITING)
 *      └───────────────────────────────────────────────────────────┘
 * A rollout holds a waiting instance, and one whose attempt it ended, until it is the turn of that instance (change_rollout.c).
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/must.h"
#include "core/apply/apply.h"
#include "core/model/input.h"
#include "core/model/instance.h"
#include "core/model/limits.h"
#include "core/model/losses.h"
#include "core/model/node.h"
#include "core/model/oindex.h"
#include "core/model/resource.h"
#include "core/model/task.h"
#include "core/state/change.h"
#include "core/state/fact.h"
#include "core/state/fallback.h"
#include "core/state/gang.h"
#include "core/state/history.h"
#include "core/state/key.h"
#include "core/state/lengths.h"
#include "core/state/query.h"
#include "core/state/state.h"

static struct instance *attempt_edit(struct core *core, const struct task *task,
                                     struct attempt_key key)
{
    must(query_instance_live(core, key) != NULL);
    return change_task_instance(core, task, key.index);
}

/* P1: no amount that the instance takes goes below zero, even if the node has an overhang in another
 * resource. */
static void check_not_over(const struct node *node, const struct instance *instance,
                           const struct request *request)
{
    must(instance->slots_milli == 0 || node->slots_free >= 0);
    must(instance->cpu_milli == 0 || node->cpu_free >= 0);
    must(instance->memory_bytes == 0 || node->memory_free >= 0);
    must(instance->slots_milli > 0 || node->aux_used <= node->aux_max);
    for (uint32_t i = 0; i < request->named_count; i++) {
        resource_id resource = request->named[i].resource;
        must(request->named[i].milli <= node_named(node, resource));
        must(request->named[i].milli == 0 || node_named_free(node, resource) >= 0);
    }
}

void apply_attempt_allocated(struct core *core, const struct fact *fact)
{
    struct attempt_key key = fact->allocated.key;
    struct task_mark mark;
    struct task *task = change_task_open(core, key.task, &mark);
    fallback_settle(core, task, query_node(core, fact->allocated.node)->pool);
    if (task->gang) {
        change_claim_drop_all(
            core,
            /* the gang starts as a whole, perhaps with devices that were promised to
                               * another instance of it */
            task);
    } else {
        change_claim_drop(core, task, key.index);
    }
    struct instance *instance = change_task_instance(core, task, key.index);
    must(instance->state == INSTANCE_WAITING);
    must(instance->attempt + 1 == key.attempt);
    instance->attempt = key.attempt;
    instance->node = fact->allocated.node;
    instance->incarnation = fact->allocated.incarnation;
    instance->devices = fact->allocated.devices;
    instance->slots_milli = fact->allocated.slots_milli;
    instance->cpu_milli = fact->allocated.cpu_milli;
    instance->memory_bytes = fact->allocated.memory_bytes;
    instance->master_port = fact->allocated.master_port;
    instance->allocated_ms = fact->time_ms;
    instance->started_ms = 0;
    instance->checkpoint_ms = 0;
    instance->ended_ms = 0;
    instance->cpu_ms = 0;
    instance->memory_peak_bytes = 0;
    instance->stop_deadline_ms = 0;
    instance->exit_code = 0;
    instance->workdir_missed = 0;
    instance->health = SERVICE_UNKNOWN;
    instance->cause = END_NONE;
    instance->state = INSTANCE_STARTING;
    must(oindex_insert(&core->orders[ORDER_ON_NODE],
                       (struct okey){{instance->node.v, task->id.v, key.index,
                                      task->instance_first + key.index}}));
    struct node before;
    struct node *node = change_node_open(core, instance->node, &before);
    must(node->pool.v == task->pool.v);
    must(node->incarnation == instance->incarnation);
    must(node_takes_work(node));
    const struct request *request = query_task_request(core, task, key.index);
    change_node_allocate(node, instance, request);
    check_not_over(node, instance, request);
    change_node_close(core, node, &before);
    change_usage_allocate(core, task, instance, 1);
    task->waiting_count--;
    task->active_count++;
    task->starting_count++;
    if (task->waiting_from == key.index) {
        change_task_waiting_from(core, task, key.index + 1);
    }
    change_task_close(core, task, &mark);
    history_start(core, task->pool, fact->time_ms);
}

void apply_attempt_started(struct core *core, const struct fact *fact)
{
    struct attempt_key key = fact->attempt_started.key;
    struct task_mark mark;
    struct task *task = change_task_open(core, key.task, &mark);
    struct instance *instance = attempt_edit(core, task, key);
    must(instance->state == INSTANCE_STARTING);
    instance->state = INSTANCE_RUNNING;
    instance->started_ms = fact->attempt_started.at_ms;
    instance->workdir_missed = fact->attempt_started.workdir_missed;
    change_task_deadline_put(core, task, instance);
    change_task_end_moved(core, instance);
    if (task->started_ms == 0) {
        task->started_ms = instance->started_ms;
    }
    if (task->running_ms == 0) {
        task->running_ms = instance->started_ms;
    }
    task->starting_count--;
    change_task_close(core, task, &mark);
}

void apply_attempt_health(struct core *core, const struct fact *fact)
{
    const struct attempt_key key = fact->attempt_health.key;
    const struct task *task = query_task(core, key.task);
    must(task != NULL);
    attempt_edit(core, task, key)->health = (uint8_t)fact->attempt_health.now;
}

/* One more instance on the node is leaving. If a place on the node is promised, other tasks may now use what
 * is free: the promise can be kept with what becomes free. */
static void node_leaves(struct core *core, node_id id)
{
    struct node before;
    struct node *node = change_node_open(core, id, &before);
    node->leaving_count++;
    change_node_close(core, node, &before);
    if (node->claim_count > 0) {
        change_pool_freed(core, node->pool);
    }
}

void apply_attempt_stopping(struct core *core, const struct fact *fact)
{
    struct attempt_key key = fact->attempt_stopping.key;
    struct task_mark mark;
    struct task *task = change_task_open(core, key.task, &mark);
    struct instance *instance = attempt_edit(core, task, key);
    change_task_deadline_drop(core, task, instance);
    if (instance->state == INSTANCE_STARTING) {
        must(task->starting_count > 0);
        task->starting_count--;
    }
    bool leaves = instance->state != INSTANCE_STOPPING;
    instance->state = INSTANCE_STOPPING;
    if (leaves) {
        task->stopping_count++;
        change_usage_leave(core, task, instance);
        node_leaves(core, instance->node);
    }
    instance->cause = (uint8_t)fact->attempt_stopping.cause;
    instance->stop_deadline_ms = fact->attempt_stopping.deadline_ms;
    change_task_deadline_put(core, task, instance);
    change_task_close(core, task, &mark);
}

static void place_free(struct core *core, const struct task *task, const struct instance *instance)
{
    struct okey key = {
        {instance->node.v, task->id.v, instance->index, task->instance_first + instance->index}};
    must(oindex_remove(&core->orders[ORDER_ON_NODE], key));
    struct node before;
    struct node *node = change_node_open(core, instance->node, &before);
    change_node_release(node, instance, query_task_request(core, task, instance->index));
    change_node_close(core, node, &before);
    change_usage_allocate(core, task, instance, -1);
    change_pool_due(core, node->pool);
}

/* Counts the end of an attempt in its task. */
static void end_count(struct task *task, const struct fact *fact)
{
    enum end_cause cause = fact->attempt_ended.cause;
    if (instance_lost(cause) || cause == END_LOSSES) {
        task->lost_count++;
    } else if (cause == END_PREEMPTED) {
        task->preempted_count++;
    }
    if (fact->attempt_ended.again) {
        return;
    }
    task->ended_count++;
    must(task->ended_count <= task->instance_count);
    if (instance_failed(cause, fact->attempt_ended.report.exit_code)) {
        task->failed_count++;
    } else if (instance_lost(cause)) {
        task->unknown_count++;
    }
}

/* A broken gang begins again as a whole. Instances that had ended wait again, too (P2). */
static void gang_rewind(struct core *core, struct task *task)
{
    must(task->gang);
    for (uint32_t i = 0; i < task->instance_count && task->ended_count > 0; i++) {
        if (query_instance_row(core, task->instance_first + i)->state != INSTANCE_ENDED) {
            continue;
        }
        change_task_instance(core, task, i)->state = INSTANCE_WAITING;
        task->ended_count--;
        task->waiting_count++;
        task->waiting_from = task->waiting_from < i ? task->waiting_from : i;
    }
}

/* Is the gang below its minimum, without an instance that stays and could wait for the others? */
static bool gang_gone(const struct task *task)
{
    return task->gang && !task_gang_doomed(task) && task->waiting_count > 0 &&
           task->active_count == task->stopping_count && task_gang_lacks(task);
}

/* Does a rollout hold the instance after this end? A rollout that ended in the meantime holds nothing: then the instance waits for a
 * place again. */
static bool is_held(const struct task *task, enum end_cause cause)
{
    return cause == END_REPLACED && task->rollout.v != 0;
}

static void wait_again(struct core *core, struct task *task, struct instance *instance,
                       const struct fact *fact)
{
    enum end_cause cause = fact->attempt_ended.cause;
    if (is_held(task, cause)) {
        instance->state = INSTANCE_HELD;
        task->held_count++;
        return;
    }
    instance->state = INSTANCE_WAITING;
    change_claim_moved(core, task, instance->index);
    task->waiting_count++;
    must(task->waiting_count <= task->instance_count);
    if (instance->index < task->waiting_from) {
        task->waiting_from = instance->index;
    }
    task->queued_ms = fact->time_ms;
    if (cause != END_GANG) {
        task->cause = (uint8_t)cause;
    }
    if (instance_failed(cause, fact->attempt_ended.report.exit_code)) {
        instance->retries++;
        task->retries += task->gang;
    }
    const bool lost = instance_lost(cause);
    instance->restarts = fact->attempt_ended.restarts;
    if (fact->attempt_ended.hold_until_ms > task->hold_until_ms) {
        task->hold_until_ms = fact->attempt_ended.hold_until_ms;
        task->losses = instance->losses;
        task->restarts = instance->restarts;
    }
    if (lost && task->rank >= 0) {
        task->rank -= RANK_FRONT;
    }
    /* The instances that stay may wait for a lost instance. After any other end a gang below its minimum
     * begins again. */
    gang_count(core, task);
    if (task->gang && task_gang_lacks(task) && !(lost && task_gang_may_wait(task))) {
        gang_rewind(core, task);
    }
}

/* Learns the length of a run that ended by itself, by its time limit or by a kill. Of a gang only instance 0
 * counts. */
static void run_learn(struct core *core, const struct task *task, const struct instance *instance,
                      enum end_cause cause)
{
    const bool ended = cause == END_EXIT || cause == END_TIME_LIMIT || cause == END_KILLED ||
                       cause == END_MEMORY || cause == END_DISK;
    if (ended && instance->started_ms > 0 && (!task->gang || instance->index == 0)) {
        lengths_learn(core, task, instance->ended_ms - instance->started_ms);
    }
}

/* After the last running instance of a task has ended, adds the time since running_ms to ran_ms. The time
 * until the next start does not count as running. */
static void spell_end(struct task *task, int64_t at_ms)
{
    if (task->running_ms == 0 || task->active_count > task->starting_count) {
        return;
    }
    const int64_t spell_ms = at_ms > task->running_ms ? at_ms - task->running_ms : 0;
    task->ran_ms = spell_ms < TIME_MS_MAX - task->ran_ms ? task->ran_ms + spell_ms : TIME_MS_MAX;
    task->running_ms = 0;
}

/* What the attempt used, for the instance and for the task. Agents have said otherwise: what is below
 * 0 counts as nothing, and a sum beyond its type stays at the largest number. */
static void use_count(struct task *task, struct instance *instance, const struct report *report)
{
    instance->cpu_ms = report->cpu_ms > 0 ? report->cpu_ms : 0;
    instance->memory_peak_bytes = report->memory_peak_bytes > 0 ? report->memory_peak_bytes : 0;
    if (__builtin_add_overflow(task->cpu_ms, instance->cpu_ms, &task->cpu_ms)) {
        task->cpu_ms = INT64_MAX;
    }
    if (instance->memory_peak_bytes > task->memory_peak_bytes) {
        task->memory_peak_bytes = instance->memory_peak_bytes;
    }
}

void apply_attempt_ended(struct core *core, const struct fact *fact)
{
    const struct report *report = &fact->attempt_ended.report;
    struct task_mark mark;
    struct task *task = change_task_open(core, report->key.task, &mark);
    struct instance *instance = attempt_edit(core, task, report->key);
    change_task_deadline_drop(core, task, instance);
    if (!fact->attempt_ended.again || is_held(task, fact->attempt_ended.cause)) {
        change_claim_drop(core, task, instance->index);
    }
    place_free(core, task, instance);
    if (instance->state == INSTANCE_STARTING) {
        task->starting_count--;
    } else if (instance->state == INSTANCE_STOPPING) {
        task->stopping_count--;
    }
    must(task->active_count > 0);
    task->active_count--;
    spell_end(task, report->at_ms);
    instance->state = INSTANCE_ENDED;
    instance->cause = (uint8_t)fact->attempt_ended.cause;
    instance->exit_code = report->exit_code;
    instance->ended_ms = report->at_ms;
    instance->stop_deadline_ms = 0;
    use_count(task, instance, report);
    run_learn(core, task, instance, fact->attempt_ended.cause);
    if (fact->attempt_ended.cause == END_PREEMPTED) {
        apply_checkpoint_lost(core, instance);
    }
    if (report->type == REPORT_LOST &&
        (fact->attempt_ended.cause == END_NODE_LOST || fact->attempt_ended.cause == END_LOSSES)) {
        losses_count(instance, fact->time_ms);
    }
    end_count(task, fact);
    if (fact->attempt_ended.again) {
        wait_again(core, task, instance, fact);
    }
    gang_count(core, task);
    if (gang_gone(task)) {
        gang_rewind(core, task);
    }
    if (task->active_count == 0) {
        apply_task_edit_arrive(core, task);
        fallback_pool_gone(core, task);
    }
    change_task_close(core, task, &mark);
}
