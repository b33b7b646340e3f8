/* det_schedule.c - passes over a pool: which waiting tasks start, which running ones are told to stop; the queue as counted.
 * SPDX-License-Identifier: Apache-2.0 */
#include "determined.h"
#include "read.h"

#include <string.h>

static bool named(const struct doc *list, const char *name)
{
    for (const struct doc *one = list == NULL ? NULL : list->first; one != NULL; one = one->next) {
        if (read_is(one, name)) {
            return true;
        }
    }
    return false;
}

static bool released(const struct det_case *det, const struct det_task *task)
{
    const struct task *row = core_task(det->cluster.core, task->task);
    return task->ran && (row == NULL || row->stopping_count > 0 || row->active_count == 0);
}

static bool allocated(const struct det_case *det, const struct det_task *task)
{
    return !task->ran && task->task.v != 0 && cluster_active(&det->cluster, task->task) > 0;
}

/* The peer may promise one place to several; we start only what has its place. */
static bool one_of(const struct det_case *det, const struct doc *list)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < det->task_count; i++) {
        const struct det_task *task = &det->tasks[i];
        if (allocated(det, task) && !named(list, task->name)) {
            return false;
        }
        count += allocated(det, task);
    }
    return count == 1;
}

static enum outcome decided(struct det_case *det, const struct doc *expect)
{
    const struct doc *alternative = doc_get(det->trial->test, "acceptable_alternative");
    const struct doc *one = alternative == NULL ? NULL : doc_get(alternative, "allocate_one_of");
    const struct doc *starts = doc_get(expect, "allocate");
    const struct doc *stops = doc_get(expect, "release");
    if (one != NULL && one_of(det, one)) {
        starts = NULL;
    }
    for (uint32_t i = 0; i < det->task_count; i++) {
        const struct det_task *task = &det->tasks[i];
        if (starts != NULL && allocated(det, task) != named(starts, task->name)) {
            return trial_failed(det->trial, "%s %s", task->name,
                                allocated(det, task) ? "starts" : "does not start");
        }
        if (stops != NULL && released(det, task) != named(stops, task->name)) {
            return trial_failed(det->trial, "%s is %sstopped", task->name,
                                released(det, task) ? "" : "not ");
        }
    }
    return CASE_PASSED;
}

static bool group_active(const struct det_case *det, const char *group)
{
    for (uint32_t i = 0; i < det->task_count; i++) {
        const struct det_task *task = &det->tasks[i];
        if (strcmp(task->group, group) == 0 && cluster_active(&det->cluster, task->task) > 0) {
            return true;
        }
    }
    return false;
}

/* Jobs are groups of tasks: scheduled when any of their tasks is. */
static enum outcome counted(struct det_case *det, const struct doc *expect)
{
    uint64_t queued = 0;
    uint64_t scheduled = 0;
    const struct doc *groups = doc_get(det->trial->test, "groups");
    for (const struct doc *group = groups->first; group != NULL; group = group->next) {
        const char *name = "";
        (void)doc_text(doc_get(group, "id"), &name);
        const bool active = group_active(det, name);
        scheduled += active;
        queued += !active;
    }
    return det_number(expect, "queued_jobs", queued) == queued &&
                   det_number(expect, "scheduled_jobs", scheduled) == scheduled
               ? CASE_PASSED
               : trial_failed(det->trial, "%llu jobs queued, %llu scheduled",
                              (unsigned long long)queued, (unsigned long long)scheduled);
}

static void all_started(struct det_case *det)
{
    for (uint32_t i = 0; i < det->task_count; i++) {
        struct det_task *task = &det->tasks[i];
        if (task->task.v != 0) {
            cluster_started(&det->cluster, task->task);
            task->ran = cluster_active(&det->cluster, task->task) > 0;
        }
    }
}

static void all_ended(struct det_case *det, const struct doc *names)
{
    for (uint32_t i = 0; i < det->task_count; i++) {
        struct det_task *task = &det->tasks[i];
        if (named(names, task->name)) {
            cluster_ended(&det->cluster, task->task);
            task->ran = false;
        }
    }
}

static enum outcome step_run(struct det_case *det, const struct doc *step)
{
    const struct doc *op = doc_get(step, "op");
    const struct doc *expect = doc_get(step, "expect");
    if (read_is(op, "schedule")) {
        det_queue(det);
        cluster_pass(&det->cluster);
        return expect == NULL ? CASE_PASSED : decided(det, expect);
    }
    if (read_is(op, "start_decided")) {
        all_started(det);
        return CASE_PASSED;
    }
    if (read_is(op, "add")) {
        return det_tasks(det, doc_get(step, "tasks"));
    }
    if (read_is(op, "finish")) {
        all_ended(det, doc_get(step, "tasks"));
        return CASE_PASSED;
    }
    return read_is(op, "queue_stats") ? counted(det, expect)
                                      : trial_skipped(det->trial, "no translation of a step");
}

static enum outcome steps_run(struct det_case *det)
{
    const struct doc *steps = doc_get(det->trial->test, "steps");
    enum outcome outcome = det_tasks(det, doc_get(det->trial->test, "tasks"));
    if (steps == NULL && outcome == CASE_PASSED) {
        det_queue(det);
        cluster_pass(&det->cluster);
        return decided(det, doc_get(det->trial->test, "expect"));
    }
    for (const struct doc *step = steps == NULL ? NULL : steps->first;
         step != NULL && outcome == CASE_PASSED; step = step->next) {
        outcome = step_run(det, step);
    }
    return outcome;
}

enum outcome det_schedule(struct trial *trial)
{
    const char *missing = det_missing(trial);
    if (missing != NULL) {
        return trial_skipped(trial, "%s", missing);
    }
    struct det_case det;
    enum outcome outcome = det_open(&det, trial);
    if (outcome == CASE_PASSED) {
        outcome = steps_run(&det);
    }
    det_close(&det);
    return outcome;
}
