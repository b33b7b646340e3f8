/* det_schedule.c - cases of Determined about passes over a pool: which waiting tasks start,
 * which running tasks are told to stop, and the counts of the queue.
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
    const struct task *row = query_task(det->cluster.core, task->task);
    if (task->beyond) {
        return row->active_count + row->claimed_count == 0;
    }
    return task->ran && (row == NULL || row->stopping_count > 0 || row->active_count == 0);
}

static bool allocated(const struct det_case *det, const struct det_task *task)
{
    const struct task *row = query_task(det->cluster.core, task->task);
    return !task->ran && !task->beyond && row != NULL &&
           (row->active_count > 0 || (det->looks_empty && row->claimed_count > 0));
}

/* Determined may promise one place to several tasks. Weir starts only tasks that have a place. */
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

/* Returns the first name of a list that no task has; NULL: all are names of tasks. */
static const char *unknown_in(const struct det_case *det, const struct doc *list)
{
    for (const struct doc *one = list == NULL ? NULL : list->first; one != NULL; one = one->next) {
        const char *name = "";
        bool known = false;
        (void)reads_text(one, &name);
        for (uint32_t i = 0; i < det->task_count && !known; i++) {
            known = strcmp(det->tasks[i].name, name) == 0;
        }
        if (!known) {
            return name;
        }
    }
    return NULL;
}

static enum outcome decided(struct det_case *det, const struct doc *expect)
{
    const struct doc *alternative = reads_get(det->trial->test, "acceptable_alternative");
    const struct doc *one = alternative == NULL ? NULL : reads_get(alternative, "allocate_one_of");
    const struct doc *other_stops = alternative == NULL ? NULL : reads_get(alternative, "release");
    const struct doc *starts = reads_get(expect, "allocate");
    const struct doc *stops = reads_get(expect, "release");
    const struct doc *const lists[] = {one, other_stops, starts, stops};
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
        const char *unknown = unknown_in(det, lists[i]);
        if (unknown != NULL) {
            return trial_failed(det->trial, "the case expects something of '%s', which is no task",
                                unknown);
        }
    }
    if (one != NULL && one_of(det, one)) {
        starts = NULL;
        stops = other_stops;
    }
    /* Where the case itself names a weakness of Determined, Weir may do better: start more (P5)
     * or stop less. */
    const bool weak = read_flag(det->trial->test, "known_weakness", false);
    for (uint32_t i = 0; i < det->task_count; i++) {
        const struct det_task *task = &det->tasks[i];
        const bool more = weak && allocated(det, task);
        const bool fewer = weak && !released(det, task);
        if (starts != NULL && !more && allocated(det, task) != named(starts, task->name)) {
            return trial_failed(det->trial, "%s %s", task->name,
                                allocated(det, task) ? "starts" : "does not start");
        }
        if (stops != NULL && !fewer && released(det, task) != named(stops, task->name)) {
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

/* A job is a group of tasks. A job is scheduled when any of its tasks is. */
static enum outcome counted(struct det_case *det, const struct doc *expect)
{
    uint64_t queued = 0;
    uint64_t scheduled = 0;
    const struct doc *groups = reads_get(det->trial->test, "groups");
    for (const struct doc *group = groups->first; group != NULL; group = group->next) {
        const char *name = "";
        (void)reads_text(reads_get(group, "id"), &name);
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

/* A job as the queue shows it. */
struct job_view {
    uint64_t allocated; /* slots */
    uint64_t requested;
    const struct task *first; /* the job's first task in the pool's order */
};

static bool comes_before(const struct task *a, const struct task *b)
{
    return a->priority != b->priority ? a->priority > b->priority : a->rank < b->rank;
}

static struct job_view job_view(const struct det_case *det, const char *group)
{
    struct job_view view = {0};
    for (uint32_t i = 0; i < det->task_count; i++) {
        const struct det_task *task = &det->tasks[i];
        const struct task *row = query_task(det->cluster.core, task->task);
        if (strcmp(task->group, group) != 0 || row == NULL) {
            continue;
        }
        const uint64_t slots = det_number(task->doc, "slots", 0);
        view.requested += slots;
        view.allocated += row->active_count > 0 ? slots : 0;
        view.first = view.first == NULL || comes_before(row, view.first) ? row : view.first;
    }
    return view;
}

/* Counts the jobs whose first task is before the first task of this job, running jobs included. */
static uint64_t jobs_ahead(const struct det_case *det, const struct job_view *job)
{
    uint64_t ahead = 0;
    const struct doc *groups = reads_get(det->trial->test, "groups");
    for (const struct doc *group = groups->first; group != NULL; group = group->next) {
        const char *name = "";
        (void)reads_text(reads_get(group, "id"), &name);
        const struct job_view other = job_view(det, name);
        ahead += other.first != NULL && job->first != NULL && other.first != job->first &&
                 comes_before(other.first, job->first);
    }
    return ahead;
}

static enum outcome job_compare(struct det_case *det, const char *name, const struct doc *expect)
{
    const struct job_view job = job_view(det, name);
    const int state = reads_word(det->trial, expect, "state", "queued|scheduled");
    /* Where groups share there is no such number: Determined says -1. */
    const int64_t ahead = det->by_group ? -1 : (int64_t)jobs_ahead(det, &job);
    int64_t ahead_wanted = ahead;
    (void)reads_i64(reads_get(expect, "jobs_ahead"), &ahead_wanted);
    if (state < 0) {
        return CASE_FAILED;
    }
    if (reads_get(expect, "state") != NULL && (state == 1) != group_active(det, name)) {
        return trial_failed(det->trial, "%s is %s", name,
                            group_active(det, name) ? "scheduled" : "queued");
    }
    const bool right = det_number(expect, "allocated_slots", job.allocated) == job.allocated &&
                       det_number(expect, "requested_slots", job.requested) == job.requested &&
                       ahead_wanted == ahead;
    return right ? CASE_PASSED
                 : trial_failed(det->trial, "%s: %llu of %llu slots, %lld ahead", name,
                                (unsigned long long)job.allocated,
                                (unsigned long long)job.requested, (long long)ahead);
}

/* Compares a list of jobs with their ids, or a map of jobs by id. */
static enum outcome jobs_compare(struct det_case *det, const struct doc *expect)
{
    const bool wrapped = expect->first != NULL && expect->first->kind == DOC_LIST;
    enum outcome outcome = CASE_PASSED;
    if (wrapped) {
        reads_note(expect->first);
    }
    for (const struct doc *job = wrapped ? expect->first->first : expect->first;
         job != NULL && outcome == CASE_PASSED; job = job->next) {
        reads_note(job);
        const char *name = job->key.p == NULL ? "" : job->key.p;
        (void)reads_text(reads_get(job, "id"), &name);
        outcome = det_group(det, name) != NULL
                      ? job_compare(det, name, job)
                      : trial_failed(det->trial, "'%s' is no job of the case", name);
    }
    return outcome;
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

static enum outcome all_ended(struct det_case *det, const struct doc *names)
{
    const char *unknown = unknown_in(det, names);
    if (unknown != NULL) {
        return trial_failed(det->trial, "'%s' finishes, which is no task", unknown);
    }
    for (uint32_t i = 0; i < det->task_count; i++) {
        struct det_task *task = &det->tasks[i];
        if (named(names, task->name)) {
            cluster_ended(&det->cluster, task->task);
            task->ran = false;
        }
    }
    return CASE_PASSED;
}

static enum outcome scheduled(struct det_case *det, const struct doc *expect)
{
    det_queue(det);
    cluster_pass(&det->cluster);
    return expect == NULL ? CASE_PASSED : decided(det, expect);
}

static enum outcome step_run(struct det_case *det, const struct doc *step)
{
    enum { SCHEDULE, START_DECIDED, ADD, FINISH, START, QUEUE_JOBS, QUEUE_STATS, ORDER, CHECK };
    static const char words[] = "schedule|start_decided|add|finish|start|queue_jobs|queue_stats|"
                                "order|check";
    const struct doc *expect = reads_get(step, "expect");
    const struct doc *tasks = reads_get(step, "tasks");
    const int op = reads_word(det->trial, step, "op", words);
    if (op >= QUEUE_JOBS && expect == NULL) {
        return trial_failed(det->trial, "a step that compares has no 'expect'");
    }
    if ((op == ADD || op == FINISH || op == START) && tasks == NULL) {
        return trial_failed(det->trial, "a step has no 'tasks'");
    }
    switch (op) {
    case SCHEDULE:
        return scheduled(det, expect);
    case START_DECIDED:
        all_started(det);
        return CASE_PASSED;
    case ADD:
        return det_tasks(det, tasks);
    case FINISH:
        return all_ended(det, tasks);
    case START:
        return det_start(det, tasks);
    case QUEUE_JOBS:
        return jobs_compare(det, expect);
    case QUEUE_STATS:
        return counted(det, expect);
    case ORDER:
    case CHECK:
        det_queue(det);
        return det_order_compare(det, step);
    default:
        return CASE_FAILED;
    }
}

/* Runs the steps of a case. A case without steps is one step, which is the case itself: a pass, or
 * a question about the order. */
static enum outcome steps_run(struct det_case *det, bool order)
{
    const struct doc *test = det->trial->test;
    const struct doc *steps = reads_get(test, "steps");
    enum outcome outcome = det_tasks(det, reads_get(test, "tasks"));
    if (outcome == CASE_PASSED && order && reads_get(test, "expect") != NULL) {
        det_queue(det);
        outcome = det_order_compare(det, test);
    } else if (outcome == CASE_PASSED && !order && reads_get(test, "expect") != NULL) {
        outcome = scheduled(det, reads_get(test, "expect"));
    }
    for (const struct doc *step = steps == NULL ? NULL : steps->first;
         step != NULL && outcome == CASE_PASSED; step = step->next) {
        outcome = step_run(det, step);
    }
    return outcome;
}

static enum outcome case_run(struct trial *trial, bool order)
{
    struct det_case det;
    enum outcome outcome = det_open(&det, trial);
    const struct doc *agents = reads_get(trial->test, "agents");
    if (order && (agents == NULL || agents->count == 0)) {
        det_join_anywhere(&det);
    }
    if (outcome == CASE_PASSED) {
        outcome = steps_run(&det, order);
    }
    det_close(&det);
    return outcome;
}

enum outcome det_schedule(struct trial *trial)
{
    return case_run(trial, false);
}

enum outcome det_order(struct trial *trial)
{
    return case_run(trial, true);
}
