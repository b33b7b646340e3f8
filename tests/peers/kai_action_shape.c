/* kai_action_shape.c - the request of every pod of a job, and how many pods start together.
 *
 * Instances are placed in the order of their index and leave from the highest index, so the
 * index of a pod follows from its position in that order. A part of a device by profile becomes
 * a named resource of the node, as an administrator would declare it.
 * SPDX-License-Identifier: Apache-2.0 */
#include "kai_action.h"
#include "read.h"

#include <string.h>

enum { MIB = 1 << 20 };

const char *action_profile_name(const struct doc *profile)
{
    const char *slash = strrchr(profile->key.p, '/');
    return slash == NULL ? profile->key.p : slash + 1;
}

const char *action_profile(const struct doc *pod, struct named_amount *ret)
{
    const struct doc *profiles = reads_get(pod, "mig");
    *ret = (struct named_amount){.name = ""};
    /* A waiting pod with an outdated form of profile: no node offers it. A running pod of this
     * form holds no known part. */
    const bool legacy = read_flag(pod, "legacy_mig", false);
    if (legacy && read_is(reads_get(pod, "state"), "Pending")) {
        *ret = (struct named_amount){"legacy-mig", MILLI};
        return NULL;
    }
    if (profiles == NULL || profiles->count == 0) {
        return NULL;
    }
    if (profiles->count > 1) {
        return "several profiles of a device in one task";
    }
    ret->name = action_profile_name(profiles->first);
    ret->milli = read_milli(profiles->first, 0);
    return NULL;
}

static const char *pod_missing(const struct doc *pod)
{
    static const char *const fields[][2] = {
        {"affinity_topology_key", "no affinity between tasks"},
        {"anti_affinity_topology_key", "no affinity between tasks"},
    };
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
        if (reads_get(pod, fields[i][0]) != NULL) {
            return fields[i][1];
        }
    }
    reads_ignore(pod, "labels"); /* only affinity asks for the labels of a pod */
    const struct doc *label = reads_get(pod, "require_label");
    return label != NULL && reads_get(label, "in")->count != 1 ? "one of several values of a label"
                                                               : NULL;
}

bool action_label(const struct doc *pod, struct label *ret)
{
    const struct doc *label = reads_get(pod, "require_label");
    *ret = (struct label){"", ""};
    return label != NULL && reads_text(reads_get(label, "key"), &ret->key) &&
           reads_text(reads_get(label, "in")->first, &ret->value);
}

bool action_alike(const struct doc *job, const struct doc *a, const struct doc *b)
{
    const int64_t gpus = read_milli(reads_get(reads_get(job, "per_task"), "gpus"), 0);
    struct named_amount profiles[2];
    struct label labels[2];
    (void)action_profile(a, &profiles[0]);
    (void)action_profile(b, &profiles[1]);
    (void)action_label(a, &labels[0]);
    (void)action_label(b, &labels[1]);
    return read_milli(reads_get(a, "gpus"), gpus) == read_milli(reads_get(b, "gpus"), gpus) &&
           profiles[0].milli == profiles[1].milli &&
           strcmp(profiles[0].name, profiles[1].name) == 0 &&
           strcmp(labels[0].key, labels[1].key) == 0 &&
           strcmp(labels[0].value, labels[1].value) == 0;
}

/* Reads the requests of all pods, and whether they are equal. */
static const char *pods_read(const struct doc *job, struct job_shape *ret)
{
    const int64_t gpus = read_milli(reads_get(reads_get(job, "per_task"), "gpus"), 0);
    const struct doc *pods = reads_get(job, "tasks");
    for (const struct doc *pod = pods->first; pod != NULL; pod = pod->next) {
        struct named_amount profile;
        const char *missing = pod_missing(pod);
        missing = missing != NULL ? missing : action_profile(pod, &profile);
        if (missing != NULL) {
            return missing;
        }
        const int64_t own = read_milli(reads_get(pod, "gpus"), gpus);
        ret->unlike |= !action_alike(job, pods->first, pod);
        ret->gpus_milli = own;
        ret->profile = profile;
    }
    return NULL;
}

const char *action_shape(const struct doc *job, struct job_shape *ret)
{
    const struct doc *per_task = reads_get(job, "per_task");
    const struct doc *groups = reads_get(job, "groups");
    int64_t gpu_memory_mib = 0;
    *ret = (struct job_shape){.profile = {.name = ""}, .count = reads_get(job, "tasks")->count};
    const char *missing = pods_read(job, ret);
    (void)reads_i64(reads_get(per_task, "gpu_memory_mib"), &gpu_memory_mib);
    (void)reads_i64(reads_get(per_task, "cpu_milli"), &ret->cpu_milli);
    (void)reads_i64(reads_get(per_task, "memory_bytes"), &ret->memory_bytes);
    ret->gpu_memory_bytes = gpu_memory_mib * MIB;
    uint64_t min = ret->count;
    (void)reads_u64(reads_get(job, "min_available"), &min);
    const struct doc *topology = reads_get(groups, "topology");
    (void)reads_text(reads_get(topology, "required_level"), &ret->topology.required);
    (void)reads_text(reads_get(topology, "preferred_level"), &ret->topology.preferred);
    uint64_t devices = 0;
    (void)reads_u64(reads_get(per_task, "fraction_devices"), &devices);
    ret->gpu_devices = (uint32_t)devices;
    ret->min = (uint32_t)min;
    ret->elastic = min < ret->count;
    return groups != NULL && missing == NULL ? action_tree(job, ret) : missing;
}
