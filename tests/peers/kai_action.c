/* kai_action.c - KAI's whole cycles: rounds of passes, and the state that every pod must have
 * afterwards. One pass of Weir does what all actions of KAI do in turn. A case that runs only
 * some actions gets a whole pass.
 * SPDX-License-Identifier: Apache-2.0 */
#include "kai_action.h"

#include "read.h"

enum { ROUND_MS = 1000 };

/* Runs one cycle. A case fails when a bound is exceeded. */
static enum outcome round_run(struct action_case *action)
{
    const struct doc *most = reads_get(reads_get(action->trial->test, "run"), "max_per_round");
    struct cluster *cluster = &action->cluster;
    uint64_t binds = UINT64_MAX;
    uint64_t evictions = UINT64_MAX;
    uint64_t pipelines = UINT64_MAX;
    (void)reads_u64(reads_get(most, "binds"), &binds);
    (void)reads_u64(reads_get(most, "evictions"), &evictions);
    (void)reads_u64(reads_get(most, "pipelines"), &pipelines);
    cluster->started_count = 0;
    cluster->stopped_count = 0;
    cluster->claimed_count = 0;
    cluster_pass(cluster);
    if (cluster->started_count > binds || cluster->stopped_count > evictions ||
        cluster->claimed_count > pipelines) {
        return trial_failed(action->trial, "%u starts, %u evictions and %u promises in a round",
                            cluster->started_count, cluster->stopped_count, cluster->claimed_count);
    }
    return CASE_PASSED;
}

/* Ends instances that were told to stop, except those that are stuck, and starts placed ones. */
static void between_rounds(struct action_case *action)
{
    for (uint32_t i = 0; i < action->job_count; i++) {
        const struct action_job *job = &action->jobs[i];
        const bool stays = read_flag(job->doc, "deleted_when_evicted", false);
        for (const struct doc *pod = reads_get(job->doc, "tasks")->first; pod != NULL && !stays;
             pod = pod->next) {
            if (!action_stuck(pod)) {
                cluster_stopped(&action->cluster, job->task, action_index(job->doc, pod));
            }
        }
        cluster_started(&action->cluster, job->task);
    }
    action->cluster.now_ms += ROUND_MS;
}

static enum outcome rounds_run(struct action_case *action)
{
    const struct doc *run = reads_get(action->trial->test, "run");
    const struct doc *actions = reads_get(run, "actions");
    uint64_t rounds = 1;
    uint64_t stable = 0;
    (void)reads_u64(reads_get(run, "rounds"), &rounds);
    (void)reads_u64(reads_get(run, "stable_rounds"), &stable);
    /* The result of a single action is looked at when the action ends. The result of a whole
     * cycle is looked at when its decisions have been carried out. */
    const bool whole_cycle = actions->count > 1;
    enum outcome outcome = CASE_PASSED;
    for (uint64_t i = 1; i <= rounds + stable && outcome == CASE_PASSED; i++) {
        outcome = round_run(action);
        if (whole_cycle) {
            between_rounds(action);
        }
        if (outcome == CASE_PASSED && i >= rounds) {
            outcome = action_compare(action);
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
