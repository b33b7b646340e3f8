/* kai_action.c - KAI's whole cycles: rounds of passes, and the state that every pod must have
 * afterwards. One pass of Weir does what all actions of KAI do in turn. A case that runs only
 * some actions gets a whole pass.
 * SPDX-License-Identifier: Apache-2.0 */
#include "kai_action.h"

#include "read.h"

enum { ROUND_MS = 1000 };

static const char *status_of(const struct instance *instance, const struct claim *claim)
{
    switch ((enum instance_state)instance->state) {
    case INSTANCE_WAITING:
        return claim != NULL ? "Pipelined" : "Pending";
    case INSTANCE_STARTING:
        return "Binding";
    case INSTANCE_RUNNING:
        return "Running";
    case INSTANCE_STOPPING:
        return claim != NULL ? "Pipelined" : "Releasing"; /* moved to another place */
    case INSTANCE_ENDED:
        return instance->exit_code == 0 ? "Succeeded" : "Failed";
    }
    return "";
}

static enum outcome pod_compare(struct action_case *action, const struct action_job *job,
                                uint32_t index, const struct doc *expect)
{
    const struct core *core = action->cluster.core;
    const struct instance refused = {.state = INSTANCE_WAITING};
    const struct instance *instance =
        job->task.v == 0 ? &refused : query_instance(core, job->task, index);
    const bool waits = instance->state == INSTANCE_WAITING;
    const struct claim *claim =
        job->task.v != 0 ? query_instance_claim(core, job->task, index) : NULL;
    const char *status = status_of(instance, claim);
    const char *node = claim != NULL ? query_node_name(core, claim->node)
                       : waits       ? ""
                                     : query_node_name(core, instance->node);
    const struct doc *where = doc_get(expect, "node");
    const struct doc *wanted = doc_get(expect, "status");
    const bool stuck = read_is(wanted, "StuckInReleasing") && instance->state == INSTANCE_STOPPING;
    if (!stuck && !read_is(wanted, status)) {
        return trial_failed(action->trial, "%s.%u is %s", job->name, index, status);
    }
    return where == NULL || node[0] == '\0' || read_is(where, node)
               ? CASE_PASSED
               : trial_failed(action->trial, "%s.%u is on %s", job->name, index, node);
}

static enum outcome job_compare(struct action_case *action, const struct action_job *job)
{
    const struct doc *expect = doc_get(action->trial->test, "expect");
    const struct doc *of_jobs = doc_get(expect, "jobs");
    const struct doc *of_tasks = doc_get(expect, "tasks");
    enum outcome outcome = CASE_PASSED;
    for (const struct doc *pod = doc_get(job->doc, "tasks")->first;
         pod != NULL && outcome == CASE_PASSED; pod = pod->next) {
        const uint32_t index = action_index(job->doc, pod);
        const char *id = "";
        (void)doc_text(doc_get(pod, "id"), &id);
        const struct doc *own = doc_get(of_tasks, id);
        own = own != NULL ? own : doc_get(of_jobs, job->name);
        outcome = own == NULL ? CASE_PASSED : pod_compare(action, job, index, own);
    }
    return outcome;
}

static enum outcome all_compare(struct action_case *action)
{
    enum outcome outcome = CASE_PASSED;
    for (uint32_t i = 0; i < action->job_count && outcome == CASE_PASSED; i++) {
        outcome = job_compare(action, &action->jobs[i]);
    }
    return outcome;
}

/* Runs one cycle. A case fails when a bound is exceeded. */
static enum outcome round_run(struct action_case *action)
{
    const struct doc *most = doc_get(doc_get(action->trial->test, "run"), "max_per_round");
    struct cluster *cluster = &action->cluster;
    uint64_t binds = UINT64_MAX;
    uint64_t evictions = UINT64_MAX;
    (void)doc_u64(doc_get(most, "binds"), &binds);
    (void)doc_u64(doc_get(most, "evictions"), &evictions);
    cluster->started_count = 0;
    cluster->stopped_count = 0;
    cluster_pass(cluster);
    if (cluster->started_count > binds || cluster->stopped_count > evictions) {
        return trial_failed(action->trial, "%u starts and %u evictions in a round",
                            cluster->started_count, cluster->stopped_count);
    }
    return CASE_PASSED;
}

/* Ends instances that were told to stop, and starts placed ones. */
static void between_rounds(struct action_case *action)
{
    for (uint32_t i = 0; i < action->job_count; i++) {
        if (!read_flag(action->jobs[i].doc, "deleted_when_evicted", false)) {
            cluster_stopped(&action->cluster, action->jobs[i].task);
        }
        cluster_started(&action->cluster, action->jobs[i].task);
    }
    action->cluster.now_ms += ROUND_MS;
}

static enum outcome rounds_run(struct action_case *action)
{
    const struct doc *run = doc_get(action->trial->test, "run");
    uint64_t rounds = 1;
    uint64_t stable = 0;
    (void)doc_u64(doc_get(run, "rounds"), &rounds);
    (void)doc_u64(doc_get(run, "stable_rounds"), &stable);
    /* The result of a single action is looked at when the action ends. The result of a whole
     * cycle is looked at when its decisions have been carried out. */
    const bool whole_cycle = doc_get(run, "actions")->count > 1;
    enum outcome outcome = CASE_PASSED;
    for (uint64_t i = 1; i <= rounds + stable && outcome == CASE_PASSED; i++) {
        outcome = round_run(action);
        if (whole_cycle) {
            between_rounds(action);
        }
        if (outcome == CASE_PASSED && i >= rounds) {
            outcome = all_compare(action);
        }
        if (!whole_cycle) {
            between_rounds(action);
        }
    }
    return outcome;
}

enum outcome kai_action(struct trial *trial)
{
    const char *missing = action_missing(trial->test);
    if (missing != NULL) {
        return trial_skipped(trial, "%s", missing);
    }
    struct action_case action;
    enum outcome outcome = action_open(&action, trial);
    if (outcome == CASE_PASSED) {
        outcome = rounds_run(&action);
    }
    action_close(&action);
    return outcome;
}
