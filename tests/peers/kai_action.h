/* kai_action.h - KAI's whole cycles as nodes, accounts and tasks of a cluster. A job becomes a
 * task, a pod an instance. Priorities of a case only order jobs, so they become 1, 2, 3 …. Jobs
 * are submitted oldest first.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "cluster.h"
#include "peers.h"

struct action_job {
    const char *name;
    const struct doc *doc;
    task_id task; /* 0: refused, because the job can never run */
};

/* The request of each pod of a job. */
struct job_shape {
    int64_t gpus_milli;
    int64_t gpu_memory_bytes;
    uint32_t gpu_devices; /* number of devices of which a part is requested; 0: not given */
    int64_t cpu_milli;
    int64_t memory_bytes;
    struct named_amount profile; /* part of a device by profile; name "": none */
    struct topology_spec topology;
    struct label label; /* label that the nodes must have; key "": any node */
    /* Pods differ, or groups of pods have a topology or a minimum: see action_groups(). */
    bool unlike;
    uint32_t count;
    uint32_t min; /* how many instances start together */
    bool elastic; /* runs with fewer than all instances */
};

struct action_case {
    struct trial *trial;
    struct cluster cluster;
    struct action_job *jobs;
    uint32_t job_count;
    node_id lost; /* a node that is gone when the case begins; 0: none */
};

/* Returns what the case needs and Weir's core cannot express; NULL: nothing. */
const char *action_missing(const struct doc *test);

/* Reads the request of a job's pods. Returns what Weir cannot express, or NULL. */
const char *action_shape(const struct doc *job, struct job_shape *ret);
/* Reads the groups of a job. Returns what Weir cannot express, or NULL. */
const char *action_tree(const struct doc *job, struct job_shape *ret);
/* Returns the index of the instance that this pod is. */
uint32_t action_index(const struct doc *job, const struct doc *pod);
/* True when two pods of a job have the same request. */
bool action_alike(const struct doc *job, const struct doc *a, const struct doc *b);
/* Returns the label that the nodes of a pod must have; false: none, and both texts are empty. */
bool action_label(const struct doc *pod, struct label *ret);
/* Makes the groups of a job whose pods are not alike. `spec` is the request of a pod that has
 * none of its own. */
void action_groups(const struct doc *job, const struct job_shape *shape, struct arena *arena,
                   struct task_spec *spec);
/* Reads the part of a device that a pod requests. Returns what Weir cannot express, or NULL. */
const char *action_profile(const struct doc *pod, struct named_amount *ret);
const char *action_profile_name(const struct doc *profile);

/* Reads a whole number; 0: missing. */
int64_t action_whole(const struct doc *map, const char *key);
/* Reads how long a gang may be below its minimum; `missing` stands for a missing field. */
int64_t action_grace(const struct doc *map, int64_t missing);
/* True when a policy of KAI is on in this case. */
bool action_plugin(const struct doc *test, const char *name);
/* Makes the pool and its nodes. CASE_PASSED: ready. */
enum outcome action_pool(struct action_case *action);

/* The first makes departments and projects, before tasks are submitted; false: one is refused.
 * The second sets quotas, when all tasks run that the case begins with. */
bool action_accounts(struct action_case *action);
void action_quotas(struct action_case *action);

/* True for a pod that was told to stop, and never ends. */
bool action_stuck(const struct doc *pod);

/* Compares the state with what the case expects. */
enum outcome action_compare(struct action_case *action);

/* Makes server, nodes and jobs, and starts the running jobs. CASE_PASSED: ready. */
enum outcome action_open(struct action_case *action, struct trial *trial);
void action_close(struct action_case *action);
