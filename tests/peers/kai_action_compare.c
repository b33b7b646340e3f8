/* kai_action_compare.c - what a case of a whole cycle expects of pods, jobs and nodes.
 *
 * The device of a fraction (`gpu_groups_hint`) is not compared: the original names it as a hint.
 * SPDX-License-Identifier: Apache-2.0 */
#include "kai_action.h"

#include "core/sched/explain/explain.h"
#include "read.h"

#include <string.h>

static const char *status_of(const struct instance *instance, const struct claim *claim, bool stuck)
{
    switch ((enum instance_state)instance->state) {
    case INSTANCE_WAITING:
        return claim != NULL ? "Pipelined" : "Pending";
    case INSTANCE_STARTING:
        return "Binding";
    case INSTANCE_RUNNING:
        return "Running";
    case INSTANCE_STOPPING:
        return claim != NULL ? "Pipelined" /* moved to another place */
               : stuck       ? "StuckInReleasing"
                             : "Releasing";
    case INSTANCE_ENDED:
        return instance->exit_code == 0 ? "Succeeded" : "Failed";
    case INSTANCE_HELD:
        break; /* no case has a service that is replaced */
    }
    return "";
}

static enum outcome pod_compare(struct action_case *action, const struct action_job *job,
                                const struct doc *pod, const struct doc *expect)
{
    const struct core *core = action->cluster.core;
    const uint32_t index = action_index(job->doc, pod);
    const struct instance refused = {.state = INSTANCE_WAITING};
    const struct instance *instance =
        job->task.v == 0 ? &refused : query_instance(core, job->task, index);
    if (instance == NULL) {
        return trial_failed(action->trial, "%s has ended", job->name);
    }
    const bool waits = instance->state == INSTANCE_WAITING;
    const struct claim *claim =
        job->task.v != 0 ? query_instance_claim(core, job->task, index) : NULL;
    const char *status = status_of(instance, claim, action_stuck(pod));
    const char *node = claim != NULL ? query_node_name(core, claim->node)
                       : waits       ? ""
                                     : query_node_name(core, instance->node);
    const struct doc *where = reads_get(expect, "node");
    if (!read_is(reads_get(expect, "status"), status)) {
        return trial_failed(action->trial, "%s.%u is %s", job->name, index, status);
    }
    /* A task that waits is on no node, also where the case still names its last one. */
    return where == NULL || read_is(where, node) || node[0] == '\0'
               ? CASE_PASSED
               : trial_failed(action->trial, "%s.%u is on %s", job->name, index, node);
}

/* ---- sums that check the case itself, and what the job got ---- */

/* One kind of sum: the field of the expectation, and the field of a pod or of all pods. */
struct sum_field {
    const char *total;
    const char *each;
};

static const struct sum_field SUMS[] = {
    {"gpus_requested_total", "gpus"},
    {"cpu_milli_requested_total", "cpu_milli"},
    {"memory_bytes_requested_total", "memory_bytes"},
};

static int64_t pod_wants(const struct action_job *job, const struct doc *pod, const char *field)
{
    const struct doc *per_task = reads_get(job->doc, "per_task");
    return read_milli(reads_get(pod, field), read_milli(reads_get(per_task, field), 0));
}

/* Sums over all pods of a job, or over one pod (`only`). */
static enum outcome sums_compare(struct action_case *action, const struct action_job *job,
                                 const struct doc *only, const struct doc *expect)
{
    for (size_t i = 0; i < sizeof SUMS / sizeof SUMS[0]; i++) {
        int64_t sum = 0;
        int64_t wanted = 0;
        for (const struct doc *pod = reads_get(job->doc, "tasks")->first; pod != NULL;
             pod = pod->next) {
            sum += only == NULL || only == pod ? pod_wants(job, pod, SUMS[i].each) : 0;
        }
        if (read_scaled(reads_get(expect, SUMS[i].total), MILLI, &wanted) && wanted != sum) {
            return trial_failed(action->trial, "'%s' of %s is not the sum of the case: %lld",
                                SUMS[i].total, job->name, (long long)sum);
        }
    }
    return CASE_PASSED;
}

static int64_t slots_held(const struct action_case *action, const struct action_job *job)
{
    int64_t held = 0;
    for (const struct doc *pod = reads_get(job->doc, "tasks")->first; pod != NULL;
         pod = pod->next) {
        const struct instance *instance =
            query_instance(action->cluster.core, job->task, action_index(job->doc, pod));
        held += instance == NULL ? 0 : instance->slots_milli;
    }
    return held;
}

/* Has the job a reason why it waits, or was it refused with one? */
static bool has_reason(const struct action_case *action, const struct action_job *job)
{
    struct explanation explanation;
    if (job->task.v == 0) {
        return true;
    }
    explain_task(action->cluster.core, job->task, &explanation);
    return explanation.reason.code != REASON_NONE;
}

static enum outcome result_compare(struct action_case *action, const struct action_job *job,
                                   const struct doc *expect)
{
    int64_t accepted = 0;
    bool told = false;
    if (read_scaled(reads_get(expect, "gpus_accepted_total"), MILLI, &accepted) &&
        accepted != slots_held(action, job)) {
        return trial_failed(action->trial, "%s holds %lld thousandths of a device", job->name,
                            (long long)slots_held(action, job));
    }
    if (reads_bool(reads_get(expect, "has_error_message"), &told) &&
        told != has_reason(action, job)) {
        return trial_failed(action->trial, "%s has %s reason", job->name, told ? "no" : "a");
    }
    reads_ignore(expect, "gpu_groups_hint");
    return CASE_PASSED;
}

/* ---- jobs and nodes ---- */

static enum outcome job_compare(struct action_case *action, const struct action_job *job)
{
    const struct doc *expect = reads_get(action->trial->test, "expect");
    const struct doc *of_job = reads_get(reads_get(expect, "jobs"), job->name);
    const struct doc *of_tasks = reads_get(expect, "tasks");
    enum outcome outcome = CASE_PASSED;
    if (of_job != NULL) {
        outcome = sums_compare(action, job, NULL, of_job);
        outcome = outcome == CASE_PASSED ? result_compare(action, job, of_job) : outcome;
    }
    for (const struct doc *pod = reads_get(job->doc, "tasks")->first;
         pod != NULL && outcome == CASE_PASSED; pod = pod->next) {
        const char *id = "";
        (void)reads_text(reads_get(pod, "id"), &id);
        const struct doc *own = reads_get(of_tasks, id);
        if (own != NULL) {
            outcome = sums_compare(action, job, pod, own);
        }
        own = own != NULL ? own : of_job;
        outcome =
            own == NULL || outcome != CASE_PASSED ? outcome : pod_compare(action, job, pod, own);
    }
    return outcome;
}

/* The devices of a node that nothing holds, and those that only stopping instances hold. */
static void devices_of(const struct core *core, const struct node *node, int64_t *ret_idle,
                       int64_t *ret_leaving)
{
    uint64_t held = 0;
    uint64_t leaving = 0;
    struct attempt_key cursor = {0};
    const struct instance *instance;
    while ((instance = query_node_instance_next(core, node->id, &cursor)) != NULL) {
        const bool leaves = instance->state == INSTANCE_STOPPING;
        held |= leaves ? 0 : instance->devices;
        leaving |= leaves ? instance->devices : 0;
    }
    *ret_idle = (int64_t)node->device_count - __builtin_popcountll(held | leaving);
    *ret_leaving = __builtin_popcountll(leaving & ~held);
}

static enum outcome nodes_compare(struct action_case *action)
{
    const struct core *core = action->cluster.core;
    const struct doc *list = reads_get(reads_get(action->trial->test, "expect"), "nodes");
    for (const struct doc *expect = list == NULL ? NULL : list->first; expect != NULL;
         expect = expect->next) {
        const struct node *node = query_node_named(core, expect->key.p);
        if (node == NULL) {
            return trial_failed(action->trial, "'expect.nodes' names '%s', which is no node",
                                expect->key.p);
        }
        reads_note(expect);
        int64_t idle;
        int64_t leaving;
        devices_of(core, node, &idle, &leaving);
        if (read_milli(reads_get(expect, "idle_gpus"), idle * MILLI) != idle * MILLI ||
            read_milli(reads_get(expect, "releasing_gpus"), leaving * MILLI) != leaving * MILLI) {
            return trial_failed(action->trial, "%s has %lld devices idle and %lld that leave",
                                expect->key.p, (long long)idle, (long long)leaving);
        }
    }
    return CASE_PASSED;
}

static bool pod_named(const struct action_case *action, const char *name)
{
    for (uint32_t i = 0; i < action->job_count; i++) {
        for (const struct doc *pod = reads_get(action->jobs[i].doc, "tasks")->first; pod != NULL;
             pod = pod->next) {
            if (read_is(reads_get(pod, "id"), name)) {
                return true;
            }
        }
    }
    return false;
}

static const struct action_job *job_named(const struct action_case *action, const char *name)
{
    for (uint32_t i = 0; i < action->job_count; i++) {
        if (strcmp(action->jobs[i].name, name) == 0) {
            return &action->jobs[i];
        }
    }
    return NULL;
}

/* Expectations of pods that name a job of one pod instead, or nobody. The original looks a pod up
 * by its name and so never compares the latter; there is nothing to compare here either. */
static enum outcome others_compare(struct action_case *action)
{
    const struct doc *list = reads_get(reads_get(action->trial->test, "expect"), "tasks");
    enum outcome outcome = CASE_PASSED;
    for (const struct doc *one = list == NULL ? NULL : list->first;
         one != NULL && outcome == CASE_PASSED; one = one->next) {
        const struct action_job *job = job_named(action, one->key.p);
        if (pod_named(action, one->key.p)) {
            continue;
        }
        if (job == NULL) {
            trial_note(action->trial, "'expect.tasks' names '%s', which is no task of the case",
                       one->key.p);
            reads_ignore(list, one->key.p);
            continue;
        }
        const struct doc *pod = reads_get(job->doc, "tasks")->first;
        reads_note(one);
        outcome = pod->next == NULL ? sums_compare(action, job, pod, one) : CASE_FAILED;
        outcome = outcome == CASE_PASSED
                      ? pod_compare(action, job, pod, one)
                      : trial_failed(action->trial, "'expect.tasks.%s'", one->key.p);
    }
    return outcome;
}

enum outcome action_compare(struct action_case *action)
{
    enum outcome outcome = nodes_compare(action);
    outcome = outcome == CASE_PASSED ? others_compare(action) : outcome;
    for (uint32_t i = 0; i < action->job_count && outcome == CASE_PASSED; i++) {
        outcome = job_compare(action, &action->jobs[i]);
    }
    return outcome;
}
