/* kai_action_shape.c - what every pod of a job asks for, and how many of them start together.
 *
 * Instances are placed in the order of their numbers and leave from the highest: a pod's number follows from its place in that
 * order. Parts of a device by profile are a named resource of the node, as an administrator would declare them. Groups within a gang
 * that all need all of their pods are one gang.
 * SPDX-License-Identifier: Apache-2.0 */
#include "kai_action.h"
#include "read.h"

#include <string.h>

enum { MIB = 1 << 20, GROUPS_DEEP_MAX = 8 };

const char *action_profile_name(const struct doc *profile)
{
    const char *slash = strrchr(profile->key.p, '/');
    return slash == NULL ? profile->key.p : slash + 1;
}

const char *action_profile(const struct doc *pod, struct named_amount *ret)
{
    const struct doc *profiles = doc_get(pod, "mig");
    *ret = (struct named_amount){.name = ""};
    /* A profile asked for in a way that no node understands any more: nothing offers it. What runs so holds no part that is known. */
    if (doc_get(pod, "legacy_mig") != NULL && read_is(doc_get(pod, "state"), "Pending")) {
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

/* Pods that must run, of a group and all below it; `*ret_missing` when that is not a mere number. */
static uint64_t group_min(const struct doc *group, unsigned depth, const char **ret_missing)
{
    uint64_t min = 0;
    if (doc_get(group, "min_subgroups") != NULL || depth == GROUPS_DEEP_MAX) {
        *ret_missing = "no minimum of each group";
        return 0;
    }
    const struct doc *sets = doc_get(group, "podsets");
    for (const struct doc *set = sets == NULL ? NULL : sets->first; set != NULL; set = set->next) {
        uint64_t own = 0;
        (void)doc_u64(doc_get(set, "min_available"), &own);
        min += own;
    }
    const struct doc *below = doc_get(group, "subgroups");
    for (const struct doc *one = below == NULL ? NULL : below->first; one != NULL;
         one = one->next) {
        min += group_min(one, depth + 1, ret_missing);
    }
    return min;
}

/* Has a group within the gang a topology of its own? */
static bool topology_below(const struct doc *group)
{
    const struct doc *below = doc_get(group, "subgroups");
    for (const struct doc *one = below == NULL ? NULL : below->first; one != NULL;
         one = one->next) {
        if (doc_get(one, "topology") != NULL || topology_below(one)) {
            return true;
        }
    }
    return false;
}

static const char *pod_missing(const struct doc *pod)
{
    static const char *const fields[][2] = {
        {"require_label", "a task cannot name labels of nodes"},
        {"affinity_topology_key", "no affinity between tasks"},
        {"anti_affinity_topology_key", "no affinity between tasks"},
    };
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
        if (doc_get(pod, fields[i][0]) != NULL) {
            return fields[i][1];
        }
    }
    return NULL;
}

static int64_t order_of(const struct doc *pod)
{
    int64_t order = INT64_MIN;
    (void)doc_i64(doc_get(pod, "order_priority"), &order);
    return order;
}

uint32_t action_index(const struct doc *job, const struct doc *pod)
{
    uint32_t index = 0;
    bool before = true;
    for (const struct doc *other = doc_get(job, "tasks")->first; other != NULL;
         other = other->next) {
        before = before && other != pod;
        index += before ? order_of(other) >= order_of(pod) : order_of(other) > order_of(pod);
    }
    return index;
}

/* All pods ask for the same? */
static const char *pods_read(const struct doc *job, struct job_shape *ret)
{
    const int64_t gpus = read_milli(doc_get(doc_get(job, "per_task"), "gpus"), 0);
    const struct doc *pods = doc_get(job, "tasks");
    for (const struct doc *pod = pods->first; pod != NULL; pod = pod->next) {
        struct named_amount profile;
        const char *missing = pod_missing(pod);
        missing = missing != NULL ? missing : action_profile(pod, &profile);
        if (missing != NULL) {
            return missing;
        }
        const int64_t own = read_milli(doc_get(pod, "gpus"), gpus);
        const bool same = own == ret->gpus_milli && profile.milli == ret->profile.milli &&
                          strcmp(profile.name, ret->profile.name) == 0;
        ret->unlike |= pod != pods->first && !same;
        ret->gpus_milli = own;
        ret->profile = profile;
    }
    return NULL;
}

const char *action_shape(const struct doc *job, struct job_shape *ret)
{
    const struct doc *per_task = doc_get(job, "per_task");
    const struct doc *groups = doc_get(job, "groups");
    int64_t gpu_memory_mib = 0;
    *ret = (struct job_shape){.profile = {.name = ""}, .count = doc_get(job, "tasks")->count};
    const char *missing = pods_read(job, ret);
    (void)doc_i64(doc_get(per_task, "gpu_memory_mib"), &gpu_memory_mib);
    (void)doc_i64(doc_get(per_task, "cpu_milli"), &ret->cpu_milli);
    (void)doc_i64(doc_get(per_task, "memory_bytes"), &ret->memory_bytes);
    ret->gpu_memory_bytes = gpu_memory_mib * MIB;
    uint64_t min = ret->count;
    (void)doc_u64(doc_get(job, "min_available"), &min);
    const struct doc *topology = doc_get(groups, "topology");
    (void)doc_text(doc_get(topology, "required_level"), &ret->topology.required);
    (void)doc_text(doc_get(topology, "preferred_level"), &ret->topology.preferred);
    if (groups != NULL && missing == NULL) {
        min = group_min(groups, 0, &missing);
        missing = missing == NULL && min < ret->count && doc_get(groups, "podsets")->count != 1
                      ? "no minimum of each group"
                      : missing;
        ret->unlike |= topology_below(groups);
    }
    uint64_t devices = 0;
    (void)doc_u64(doc_get(per_task, "fraction_devices"), &devices);
    ret->gpu_devices = (uint32_t)devices;
    ret->min = (uint32_t)min;
    return missing == NULL && ret->unlike && min < ret->count ? "no minimum of each group"
                                                              : missing;
}
