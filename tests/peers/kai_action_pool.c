/* kai_action_pool.c - the pool and the nodes of a case of a whole cycle.
 * SPDX-License-Identifier: Apache-2.0 */
#include "kai_action.h"
#include "read.h"

#include <string.h>

enum { MIB = 1 << 20, LABELS_MAX = NODE_LABELS_MAX };

int64_t action_whole(const struct doc *map, const char *key)
{
    int64_t number = 0;
    (void)reads_i64(reads_get(map, key), &number);
    return number;
}

int64_t action_grace(const struct doc *map, int64_t missing)
{
    int64_t grace_ms = missing;
    const bool given = read_scaled(reads_get(map, "staleness_grace_s"), MILLI, &grace_ms);
    return given && grace_ms < 0 ? STALE_GRACE_NEVER : grace_ms;
}

static void node_join(struct action_case *action, const struct doc *node)
{
    struct label labels[LABELS_MAX];
    struct named_amount parts[NODE_RESOURCES_MAX];
    struct node_spec spec = {.name = "", .labels = labels, .resources = parts};
    (void)reads_text(reads_get(node, "name"), &spec.name);
    const struct doc *own = reads_get(node, "labels");
    for (const struct doc *label = own == NULL ? NULL : own->first;
         label != NULL && spec.label_count < LABELS_MAX; label = label->next) {
        struct label *next = &labels[spec.label_count++];
        next->key = label->key.p;
        next->value = "";
        (void)reads_text(label, &next->value);
    }
    const struct doc *profiles = reads_get(node, "mig_instances");
    for (const struct doc *one = profiles == NULL ? NULL : profiles->first;
         one != NULL && spec.resource_count < NODE_RESOURCES_MAX; one = one->next) {
        parts[spec.resource_count++] =
            (struct named_amount){action_profile_name(one), read_milli(one, 0)};
    }
    /* A node whose devices are cut into parts has no whole devices. */
    const struct doc *strategy = reads_get(node, "mig_strategy");
    const bool cut = strategy != NULL && !read_is(strategy, "none");
    const int64_t gpus = action_whole(node, "gpus");
    const int64_t gpu_memory_bytes = action_whole(node, "gpu_memory_mib") * MIB;
    spec.device_count = cut ? 0 : (uint32_t)gpus;
    spec.slots_milli = (int64_t)spec.device_count * SLOT_MILLI;
    spec.gpu_memory_bytes = spec.device_count > 0 ? gpu_memory_bytes : 0;
    spec.cpu_milli = action_whole(node, "cpu_milli");
    spec.memory_bytes = action_whole(node, "memory_bytes");
    (void)cluster_node(&action->cluster, spec);
}

/* Does every group name the topology of the pool, if any? The recursion is as deep as a case has
 * groups. */
static bool topology_named(const struct doc *group, const char *name)
{
    const struct doc *own = reads_get(reads_get(group, "topology"), "topology");
    const struct doc *below = reads_get(group, "subgroups");
    bool named = own == NULL || read_is(own, name);
    for (const struct doc *one = below == NULL ? NULL : below->first; one != NULL && named;
         one = one->next) {
        named = topology_named(one, name);
    }
    return named;
}

/* Reads the topology. A case has at most one. */
static bool topology_read(struct trial *trial, struct pool_spec *pool, const char **levels)
{
    const struct doc *topologies = reads_get(trial->test, "topologies");
    if (topologies->count > 1) {
        (void)trial_failed(trial, "'topologies': a pool of Weir has one");
        return false;
    }
    const char *name = "";
    (void)reads_text(reads_get(topologies->first, "name"), &name);
    for (const struct doc *job = reads_get(trial->test, "jobs")->first; job != NULL;
         job = job->next) {
        if (!topology_named(reads_get(job, "groups"), name)) {
            (void)trial_failed(trial, "'jobs.groups.topology.topology' is not '%s'", name);
            return false;
        }
    }
    const struct doc *list = reads_get(topologies->first, "levels");
    for (const struct doc *level = list == NULL ? NULL : list->first; level != NULL;
         level = level->next) {
        if (pool->topology_count == TOPOLOGY_LEVELS_MAX) {
            (void)trial_failed(trial, "'topologies.levels': more than %u levels",
                               TOPOLOGY_LEVELS_MAX);
            return false;
        }
        levels[pool->topology_count] = "";
        (void)reads_text(level, &levels[pool->topology_count++]);
    }
    pool->topology = levels;
    return true;
}

/* Checks the names of the actions. One pass of Weir does them all. */
static bool actions_known(struct trial *trial, const struct doc *run)
{
    static const char *const known[] = {"allocate", "consolidation", "reclaim", "preempt",
                                        "stalegangeviction"};
    const struct doc *actions = reads_get(run, "actions");
    for (const struct doc *one = actions == NULL ? NULL : actions->first; one != NULL;
         one = one->next) {
        bool found = false;
        for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
            found |= read_is(one, known[i]);
        }
        if (!found) {
            (void)trial_failed(trial, "the runner does not know a word of 'run.actions'");
            return false;
        }
    }
    return actions != NULL;
}

bool action_plugin(const struct doc *test, const char *name)
{
    const struct doc *plugins = reads_get(reads_get(test, "run"), "only_plugins");
    for (const struct doc *one = plugins == NULL ? NULL : plugins->first; one != NULL;
         one = one->next) {
        if (read_is(one, name)) {
            return true;
        }
    }
    return plugins == NULL;
}

/* Checks the names of the policies that are on. Quotas are off without `proportion`
 * (action_quotas()). Priorities are off without `priority`, which the runner cannot express for
 * jobs of several priorities. The others place one task, and the setting of the pool says how. */
static bool plugins_known(struct trial *trial)
{
    static const char *const known[] = {
        "proportion",   "priority",      "nodeplacement", "gpuspread",        "gpupack",
        "resourcetype", "predicates",    "podaffinity",   "nodeavailability", "elastic",
        "taskorder",    "subgrouporder", "topology",      "gpusharingorder",  "nominatednode",
        "minruntime",   "kubeflow",      "ray",           "dynamicresources", "snapshot",
    };
    const struct doc *plugins = reads_get(reads_get(trial->test, "run"), "only_plugins");
    uint32_t count = 0;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        count += plugins != NULL && action_plugin(trial->test, known[i]);
    }
    if (plugins != NULL && count != plugins->count) {
        (void)trial_failed(trial, "the runner does not know a word of 'run.only_plugins'");
        return false;
    }
    const struct doc *jobs = reads_get(trial->test, "jobs");
    for (const struct doc *job = jobs->first; job != NULL; job = job->next) {
        if (!action_plugin(trial->test, "priority") &&
            action_whole(job, "priority") != action_whole(jobs->first, "priority")) {
            (void)trial_failed(trial, "'run.only_plugins' switches priorities off");
            return false;
        }
    }
    return true;
}

/* How many pods of a case request devices, and how many do not. */
struct pod_counts {
    uint32_t with;
    uint32_t without;
};

static struct pod_counts pods_count(const struct doc *test)
{
    struct pod_counts counts = {0, 0};
    for (const struct doc *job = reads_get(test, "jobs")->first; job != NULL; job = job->next) {
        const struct doc *per_task = reads_get(job, "per_task");
        const struct doc *tasks = reads_get(job, "tasks");
        for (const struct doc *pod = tasks == NULL ? NULL : tasks->first; pod != NULL;
             pod = pod->next) {
            const int64_t gpus =
                read_milli(reads_get(pod, "gpus"), read_milli(reads_get(per_task, "gpus"), 0));
            const bool devices = gpus > 0 || reads_get(pod, "mig") != NULL ||
                                 read_milli(reads_get(per_task, "gpu_memory_mib"), 0) > 0;
            counts.with += devices;
            counts.without += !devices;
        }
    }
    return counts;
}

/* Reads how many pods a node takes. Weir counts only tasks without slots, with one bound for the
 * pool; a bound that binds in another way cannot be expressed. */
static bool pods_read(struct trial *trial, struct pool_spec *pool)
{
    const struct doc *nodes = reads_get(trial->test, "nodes");
    const struct pod_counts pods = pods_count(trial->test);
    int64_t least = INT64_MAX;
    int64_t most = 0;
    for (const struct doc *node = nodes->first; node != NULL; node = node->next) {
        const int64_t own = action_whole(node, "max_pods");
        least = own < least ? own : least;
        most = own > most ? own : most;
    }
    const bool binds = least < (int64_t)pods.with + pods.without;
    if (binds && (pods.with > 0 || least != most)) {
        (void)trial_failed(trial, "'nodes.max_pods' binds tasks with devices, or differs");
        return false;
    }
    pool->aux_tasks = (uint32_t)least;
    return true;
}

/* Reads the placement. A pool of Weir has one, for all tasks. */
static bool placement_read(struct trial *trial, const struct doc *run, struct pool_spec *pool)
{
    const struct doc *placement = reads_get(run, "placement");
    const int gpu = reads_word(trial, placement, "gpu", "binpack|spread");
    const int cpu = reads_word(trial, placement, "cpu", "binpack|spread");
    const struct pod_counts pods = pods_count(trial->test);
    if (gpu < 0 || cpu < 0) {
        return false;
    }
    if (gpu != cpu && pods.with > 0 && pods.without > 0) {
        (void)trial_failed(trial, "'run.placement.cpu' differs from 'run.placement.gpu'");
        return false;
    }
    const int own = pods.with > 0 ? gpu : cpu;
    pool->placement = own == 1 ? PLACEMENT_SPREAD : PLACEMENT_PACK;
    return true;
}

enum outcome action_pool(struct action_case *action)
{
    struct trial *trial = action->trial;
    const struct doc *run = reads_get(trial->test, "run");
    const char *levels[TOPOLOGY_LEVELS_MAX];
    struct pool_spec pool = cluster_pool(&action->cluster);
    pool.policy = POLICY_FAIR_SHARE;
    pool.preemption_off = false;
    pool.victims = VICTIMS_YOUNGEST;
    pool.consolidation_max = CONSOLIDATION_MAX;
    pool.stale_grace_ms = action_grace(run, 0);
    pool.preempt_min_runtime_ms = 0;
    pool.reclaim_min_runtime_ms = 0;
    pool.preemption_delay_ms = 0;
    if (!actions_known(trial, run) || !plugins_known(trial) || !pods_read(trial, &pool) ||
        !placement_read(trial, run, &pool) || !topology_read(trial, &pool, levels)) {
        return CASE_FAILED;
    }
    cluster_pool_set(&action->cluster, &pool);
    const struct doc *nodes = reads_get(trial->test, "nodes");
    for (const struct doc *node = nodes->first; node != NULL; node = node->next) {
        if (reads_word(trial, node, "mig_strategy", "mixed|single|none") < 0) {
            return CASE_FAILED;
        }
        node_join(action, node);
    }
    return CASE_PASSED;
}
