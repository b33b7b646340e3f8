/* kai_action.h - KAI's whole cycles as nodes, accounts and tasks of a cluster. A job is a task, a pod an instance of it.
 *
 * Priorities of a case only order jobs: they become 1, 2, 3 … of ours. Jobs are submitted oldest first.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "cluster.h"
#include "peers.h"

struct action_job {
    const char *name;
    const struct doc *doc;
    task_id task; /* 0: refused, because it can never run */
};

/* What each pod of a job asks for. */
struct job_shape {
    int64_t gpus_milli;
    int64_t gpu_memory_bytes;
    uint32_t gpu_devices; /* parts of so many; 0: not said */
    int64_t cpu_milli;
    int64_t memory_bytes;
    struct named_amount profile; /* parts of devices; name "": none */
    struct topology_spec topology;
    struct label label; /* of the nodes it may run on; key "": any */
    bool
        unlike; /* pods differ, or groups of them are to be close together or come and go: see action_groups() */
    uint32_t count;
    uint32_t min; /* how many start together */
    bool elastic; /* not all of it is needed */
};

struct action_case {
    struct trial *trial;
    struct cluster cluster;
    struct action_job *jobs;
    uint32_t job_count;
    node_id lost; /* a node that is gone when the case begins; 0: none */
};

/* What the case needs that cannot be told to the core, or NULL. */
const char *action_missing(const struct doc *test);

/* The shape of a job's pods; or what is missing to say it. */
const char *action_shape(const struct doc *job, struct job_shape *ret);
/* What its groups say of it; or what is missing to say it. */
const char *action_tree(const struct doc *job, struct job_shape *ret);
/* The number of the instance that this pod of the job is. */
uint32_t action_index(const struct doc *job, const struct doc *pod);
/* Do two pods of a job ask for the same? */
bool action_alike(const struct doc *job, const struct doc *a, const struct doc *b);
/* The label that the nodes of a pod must have; false: none, and both its texts are empty. */
bool action_label(const struct doc *pod, struct label *ret);
/* The groups of a job whose pods are not alike; `spec` says what each asks for unless it says otherwise. */
void action_groups(const struct doc *job, const struct job_shape *shape, struct arena *arena,
                   struct task_spec *spec);
/* The part of a device that a pod asks for; or what is missing to say it. */
const char *action_profile(const struct doc *pod, struct named_amount *ret);
const char *action_profile_name(const struct doc *profile);

/* Departments and projects, before tasks are submitted; false: one is refused. Their quotas, once everything runs. */
bool action_accounts(struct action_case *action);
void action_quotas(struct action_case *action);

/* Server, nodes, jobs, and those that run. CASE_PASSED: ready. */
enum outcome action_open(struct action_case *action, struct trial *trial);
void action_close(struct action_case *action);
