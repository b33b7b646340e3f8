/* kai_action_open.c - makes the state with which a case of a whole cycle begins.
 * SPDX-License-Identifier: Apache-2.0 */
#include "kai_action.h"
#include "read.h"

#include <string.h>

enum { AGE_MS = 60000 };

/* Returns the rank of the job's priority among the priorities of the case, from PRIORITY_MIN on. */
static uint32_t priority_of(const struct doc *jobs, const struct doc *job)
{
    uint32_t lower = 0;
    const int64_t own = action_whole(job, "priority");
    for (const struct doc *other = jobs->first; other != NULL; other = other->next) {
        bool counted = action_whole(other, "priority") >= own;
        for (const struct doc *earlier = jobs->first; earlier != other && !counted;
             earlier = earlier->next) {
            counted = action_whole(earlier, "priority") == action_whole(other, "priority");
        }
        lower += !counted;
    }
    return PRIORITY_MIN + lower;
}

/* True for a refusal of a job that can never run. In KAI such a job waits for ever; Weir refuses
 * it (P9). */
static bool never_runs(const struct cluster *cluster)
{
    const enum reason_code code = cluster->facts.refusal.code;
    return code == REASON_TOO_LARGE || code == REASON_GANG_TOO_LARGE || code == REASON_NO_DEVICES ||
           code == REASON_COMBINATION || code == REASON_UNKNOWN_RESOURCE ||
           code == REASON_DOMAIN_TOO_SMALL || code == REASON_OTHER_LABELS;
}

static bool job_submit(struct action_case *action, struct action_job *job)
{
    struct job_shape shape;
    must(action_shape(job->doc, &shape) == NULL);
    struct task_spec spec = cluster_task(job->name);
    spec.slots_milli = shape.gpu_memory_bytes > 0 ? ASK_NOTHING : shape.gpus_milli;
    spec.gpu_memory_bytes = shape.gpu_memory_bytes;
    spec.gpu_devices = shape.gpu_devices;
    spec.needs_gpu = shape.gpus_milli > 0 || shape.gpu_memory_bytes > 0;
    (void)reads_text(reads_get(job->doc, "queue"), &spec.project);
    spec.cpu_milli = shape.cpu_milli;
    spec.memory_bytes = shape.memory_bytes;
    spec.resources = &shape.profile;
    spec.resource_count = shape.profile.name[0] != '\0';
    spec.instances = shape.count;
    spec.gang = shape.count > 1;
    spec.topology = shape.topology;
    spec.min_instances = shape.elastic ? shape.min : 0;
    spec.node_label_count = action_label(reads_get(job->doc, "tasks")->first, &shape.label);
    spec.node_labels = &shape.label;
    spec.preemptible = read_flag(job->doc, "preemptible", true);
    (void)read_scaled(reads_get(job->doc, "preemption_delay_s"), MILLI, &spec.preemption_delay_ms);
    spec.stale_grace_ms = action_grace(job->doc, STALE_GRACE_POOL);
    spec.priority = priority_of(reads_get(action->trial->test, "jobs"), job->doc);
    if (shape.unlike) {
        action_groups(job->doc, &shape, action->trial->arena, &spec);
    }
    job->task = cluster_stage(&action->cluster, spec);
    return job->task.v != 0 || never_runs(&action->cluster);
}

/* A case names the shared devices of running fractions. The first use of a name takes the lowest
 * free device. */
struct shared {
    const char *name;
    node_id node;
    uint64_t device;
};

enum { SHARED_MAX = 256 };

static uint64_t shared_device(struct shared *all, const struct node *node, const char *name)
{
    uint32_t i = 0;
    for (; all[i].name != NULL; i++) {
        if (all[i].node.v == node->id.v && strcmp(all[i].name, name) == 0) {
            return all[i].device;
        }
    }
    must(i + 1 < SHARED_MAX);
    for (uint32_t device = 0; device < node->device_count; device++) {
        if (node->device_free[device] == SLOT_MILLI) {
            all[i] = (struct shared){name, node->id, UINT64_C(1) << device};
            return all[i].device;
        }
    }
    return 0;
}

static bool instance_runs(struct action_case *action, struct shared *shared, task_id task,
                          uint32_t index, const struct doc *pod)
{
    const char *name = "";
    const char *group;
    (void)reads_text(reads_get(pod, "node"), &name);
    const struct node *node = query_node_named(action->cluster.core, name);
    const struct doc *groups = reads_get(pod, "gpu_groups");
    if (node == NULL) {
        return false;
    }
    const bool fraction = groups != NULL && reads_text(groups->first, &group);
    const uint64_t device = fraction ? shared_device(shared, node, group) : 0;
    if (!cluster_runs(&action->cluster, task, index, node->id, device)) {
        return false;
    }
    const struct doc *state = reads_get(pod, "state");
    if (!read_is(state, "Running") && !read_is(state, "Failed")) {
        cluster_stopping(&action->cluster, task, index, action_stuck(pod));
    }
    return true;
}

bool action_stuck(const struct doc *pod)
{
    return read_is(reads_get(pod, "state"), "StuckInReleasing");
}

/* Starts running jobs. Jobs on shared devices come first, so that no shared device is given away
 * whole. */
static bool jobs_run(struct action_case *action, struct shared *shared, bool sharing)
{
    for (uint32_t i = 0; i < action->job_count; i++) {
        const struct action_job *job = &action->jobs[i];
        for (const struct doc *pod = reads_get(job->doc, "tasks")->first; pod != NULL;
             pod = pod->next) {
            const uint32_t index = action_index(job->doc, pod);
            const bool shares = reads_get(pod, "gpu_groups") != NULL;
            const bool waits = read_is(reads_get(pod, "state"), "Pending");
            if (waits) {
                reads_ignore(pod, "node"); /* a pod that waits is on no node */
            }
            if (!waits && shares == sharing &&
                !instance_runs(action, shared, job->task, index, pod)) {
                return false;
            }
        }
    }
    return true;
}

/* True for a gang of which only a part runs: it has lost the rest with a node. */
static bool job_in_part(const struct action_job *job)
{
    struct job_shape shape;
    uint32_t waiting = 0;
    must(action_shape(job->doc, &shape) == NULL);
    for (const struct doc *pod = reads_get(job->doc, "tasks")->first; pod != NULL;
         pod = pod->next) {
        waiting += read_is(reads_get(pod, "state"), "Pending");
    }
    return !shape.elastic && waiting > 0 && waiting < shape.count;
}

/* Joins the node on which the lost rest ran. */
static void lost_node_join(struct action_case *action)
{
    for (uint32_t i = 0; i < action->job_count && action->lost.v == 0; i++) {
        if (job_in_part(&action->jobs[i])) {
            action->lost = cluster_node(
                &action->cluster,
                (struct node_spec){.name = "lost",
                                   .device_count = NODE_DEVICES_MAX,
                                   .slots_milli = (int64_t)NODE_DEVICES_MAX * SLOT_MILLI,
                                   .cpu_milli = INT32_MAX,
                                   .memory_bytes = INT64_C(1) << 40});
        }
    }
}

static bool rest_runs(struct action_case *action)
{
    bool ran = true;
    for (uint32_t i = 0; i < action->job_count; i++) {
        const struct action_job *job = &action->jobs[i];
        const bool in_part = job_in_part(job);
        for (const struct doc *pod = reads_get(job->doc, "tasks")->first; pod != NULL && in_part;
             pod = pod->next) {
            ran = ran && (!read_is(reads_get(pod, "state"), "Pending") ||
                          cluster_runs(&action->cluster, job->task, action_index(job->doc, pod),
                                       action->lost, 0));
        }
    }
    return ran;
}

/* Lets some instances fail or lose their node before the case begins. */
static void losses_run(struct action_case *action)
{
    for (uint32_t i = 0; i < action->job_count; i++) {
        const struct action_job *job = &action->jobs[i];
        for (const struct doc *pod = reads_get(job->doc, "tasks")->first; pod != NULL;
             pod = pod->next) {
            if (read_is(reads_get(pod, "state"), "Failed")) {
                cluster_failed(&action->cluster, job->task, action_index(job->doc, pod));
            }
        }
    }
    if (action->lost.v != 0) {
        cluster_remove(&action->cluster, action->lost);
    }
}

/* How long ago gangs lost what they have lost. -1: the jobs of the case differ. */
static int64_t stale_for_ms(const struct action_case *action)
{
    int64_t stale_ms = 0;
    for (uint32_t i = 0; i < action->job_count; i++) {
        const struct doc *stale = reads_get(action->jobs[i].doc, "stale_for_s");
        const int64_t own_ms = read_milli(stale, stale_ms);
        if (stale != NULL && stale_ms != 0 && own_ms != stale_ms) {
            return -1;
        }
        stale_ms = own_ms;
    }
    return stale_ms;
}

/* Sorts jobs oldest first; jobs of equal age stay as listed. */
static void jobs_read(struct action_case *action, const struct doc *list)
{
    action->jobs = arena_new(action->trial->arena, struct action_job, list->count);
    for (const struct doc *doc = list->first; doc != NULL; doc = doc->next) {
        uint32_t at = action->job_count++;
        for (; at > 0 && action_whole(action->jobs[at - 1].doc, "age_minutes") <
                             action_whole(doc, "age_minutes");
             at--) {
            action->jobs[at] = action->jobs[at - 1];
        }
        action->jobs[at] = (struct action_job){.name = "", .doc = doc};
        (void)reads_text(reads_get(doc, "name"), &action->jobs[at].name);
    }
}

enum outcome action_open(struct action_case *action, struct trial *trial)
{
    *action = (struct action_case){.trial = trial};
    cluster_init(&action->cluster, trial->arena);
    const enum outcome pool = action_pool(action);
    if (pool != CASE_PASSED) {
        return pool;
    }
    if (!action_accounts(action)) {
        return trial_skipped(trial, "an account is refused: %s",
                             names_reason(action->cluster.facts.refusal.code));
    }
    jobs_read(action, reads_get(trial->test, "jobs"));
    const int64_t begin_ms = action->cluster.now_ms;
    const int64_t oldest = action_whole(action->jobs[0].doc, "age_minutes");
    for (uint32_t i = 0; i < action->job_count; i++) {
        const int64_t age = action_whole(action->jobs[i].doc, "age_minutes");
        action->cluster.now_ms = begin_ms + (oldest - age) * AGE_MS;
        if (!job_submit(action, &action->jobs[i])) {
            return trial_skipped(trial, "%s is refused: %s", action->jobs[i].name,
                                 names_reason(action->cluster.facts.refusal.code));
        }
    }
    for (uint32_t i = 0; i < action->job_count; i++) {
        if (action->jobs[i].task.v != 0) {
            cluster_queue(&action->cluster, action->jobs[i].task);
        }
    }
    lost_node_join(action);
    struct shared *shared = arena_new(trial->arena, struct shared, SHARED_MAX);
    if (!jobs_run(action, shared, true) || !jobs_run(action, shared, false) || !rest_runs(action)) {
        return trial_skipped(trial, "what runs does not fit where the case says");
    }
    const int64_t stale_ms = stale_for_ms(action);
    if (stale_ms < 0) {
        return trial_failed(trial, "'jobs.stale_for_s' differs from job to job");
    }
    action->cluster.now_ms += AGE_MS > stale_ms ? AGE_MS - stale_ms : 0;
    losses_run(action);
    action_quotas(action);
    action->cluster.now_ms += stale_ms;
    return CASE_PASSED;
}

void action_close(struct action_case *action)
{
    cluster_done(&action->cluster);
}
