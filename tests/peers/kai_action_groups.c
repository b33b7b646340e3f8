/* kai_action_groups.c - groups within a gang: sets of pods that have different requests,
 * minimums of their own, or a topology.
 *
 * Sets within a group come behind the groups within it. A set of equal pods becomes a group of
 * instances. In another set each pod becomes a group, and the minimum counts these groups.
 * SPDX-License-Identifier: Apache-2.0 */
#include "kai_action.h"
#include "read.h"

#include <string.h>

enum { GROUPS_DEEP_MAX = 8 };

struct groups {
    const struct doc *job;
    struct arena *arena;
    struct task_spec *spec; /* request of a pod that has none of its own */
    struct group_spec *list;
    uint32_t instances;
};

static const struct doc *first_of(const struct doc *group, const char *key)
{
    const struct doc *list = reads_get(group, key);
    return list == NULL ? NULL : list->first;
}

static uint32_t count_of(const struct doc *group, const char *key)
{
    const struct doc *list = reads_get(group, key);
    return list == NULL ? 0 : list->count;
}

/* A pod that names no set is in the only set. */
static bool in_set(const struct doc *pod, const struct doc *set)
{
    const char *name = "";
    (void)reads_text(reads_get(set, "name"), &name);
    return reads_get(pod, "podset") == NULL || read_is(reads_get(pod, "podset"), name);
}

static uint32_t set_count(const struct doc *job, const struct doc *set)
{
    uint32_t count = 0;
    for (const struct doc *pod = first_of(job, "tasks"); pod != NULL; pod = pod->next) {
        count += in_set(pod, set);
    }
    return count;
}

static uint32_t set_min(const struct doc *set)
{
    uint64_t min = 0;
    (void)reads_u64(reads_get(set, "min_available"), &min);
    return (uint32_t)min;
}

/* ---- reading a tree ---- */

/* Reads a group and the groups in it. `*in_sets` counts the pods of their sets. The recursion here
 * and below is as deep as a case has groups. */
static const char *group_read(const struct doc *job, const struct doc *group, unsigned depth,
                              struct job_shape *ret, uint32_t *in_sets)
{
    const char *missing = depth == GROUPS_DEEP_MAX ? "groups that are nested too deep" : NULL;
    reads_ignore(group, "name");
    uint64_t needed = count_of(group, "subgroups") + count_of(group, "podsets");
    const uint64_t all = needed;
    (void)reads_u64(reads_get(group, "min_subgroups"), &needed);
    ret->elastic |= needed < all;
    ret->unlike |= needed < all || (depth > 0 && reads_get(group, "topology") != NULL);
    for (const struct doc *set = first_of(group, "podsets"); set != NULL; set = set->next) {
        const uint32_t count = set_count(job, set);
        missing = count < set_min(set) || count == 0 ? "a set of too few pods" : missing;
        ret->elastic |= set_min(set) < count;
        ret->min += set_min(set);
        *in_sets += count;
    }
    for (const struct doc *one = first_of(group, "subgroups"); one != NULL && missing == NULL;
         one = one->next) {
        missing = group_read(job, one, depth + 1, ret, in_sets);
    }
    return missing;
}

const char *action_tree(const struct doc *job, struct job_shape *ret)
{
    const struct doc *tree = reads_get(job, "groups");
    const bool one_set = count_of(tree, "podsets") == 1 && count_of(tree, "subgroups") == 0;
    uint32_t in_sets = 0;
    ret->min = 0;
    const char *missing = group_read(job, tree, 0, ret, &in_sets);
    missing = missing == NULL && in_sets != ret->count ? "a pod in no set, or in two" : missing;
    /* Groups that need all of their pods, which are alike and have no topology, are one gang. */
    ret->unlike |= ret->elastic && !one_set;
    return missing;
}

/* ---- the index of a pod ---- */

static int64_t order_of(const struct doc *pod)
{
    int64_t order = INT64_MIN;
    (void)reads_i64(reads_get(pod, "order_priority"), &order);
    return order;
}

/* Returns the position of a pod in a set (NULL: among all pods). Pods that are placed come
 * first. */
static uint32_t place_in(const struct doc *job, const struct doc *set, const struct doc *pod)
{
    uint32_t index = 0;
    bool before = true;
    for (const struct doc *other = first_of(job, "tasks"); other != NULL; other = other->next) {
        before = before && other != pod;
        if (set == NULL || in_set(other, set)) {
            index += before ? order_of(other) >= order_of(pod) : order_of(other) > order_of(pod);
        }
    }
    return index;
}

/* Adds to `*index` the pods of the group before this pod. True: the pod is in this group. */
static bool index_in(const struct doc *job, const struct doc *group, const struct doc *pod,
                     uint32_t *index)
{
    for (const struct doc *one = first_of(group, "subgroups"); one != NULL; one = one->next) {
        if (index_in(job, one, pod, index)) {
            return true;
        }
    }
    for (const struct doc *set = first_of(group, "podsets"); set != NULL; set = set->next) {
        if (in_set(pod, set)) {
            *index += place_in(job, set, pod);
            return true;
        }
        *index += set_count(job, set);
    }
    return false;
}

uint32_t action_index(const struct doc *job, const struct doc *pod)
{
    const struct doc *tree = reads_get(job, "groups");
    uint32_t index = 0;
    return tree != NULL && index_in(job, tree, pod, &index) ? index : place_in(job, NULL, pod);
}

/* ---- groups of Weir ---- */

static void topology_read(const struct doc *group, struct topology_spec *ret)
{
    const struct doc *topology = reads_get(group, "topology");
    (void)reads_text(reads_get(topology, "required_level"), &ret->required);
    (void)reads_text(reads_get(topology, "preferred_level"), &ret->preferred);
}

static struct group_spec *group_new(struct groups *groups, uint32_t parent, uint32_t min)
{
    must(groups->spec->group_count < TASK_GROUPS_MAX);
    struct group_spec *group = &groups->list[groups->spec->group_count++];
    *group = (struct group_spec){
        .name = arena_fmt(groups->arena, "group%u", groups->spec->group_count),
        .parent = parent,
        .min = min,
    };
    return group;
}

/* Adds a group of instances like this pod. */
static void pods_add(struct groups *groups, const struct doc *pod, uint32_t count, uint32_t min,
                     uint32_t parent)
{
    struct task_spec *asks = arena_dup(groups->arena, groups->spec, sizeof *asks);
    struct named_amount *profile = arena_new(groups->arena, struct named_amount, 1);
    struct label *label = arena_new(groups->arena, struct label, 1);
    const struct doc *per_task = reads_get(groups->job, "per_task");
    struct group_spec *group = group_new(groups, parent, min);
    asks->slots_milli =
        read_milli(reads_get(pod, "gpus"), read_milli(reads_get(per_task, "gpus"), 0));
    asks->needs_gpu = asks->slots_milli > 0;
    (void)action_profile(pod, profile);
    asks->resources = profile;
    asks->resource_count = profile->name[0] != '\0';
    group->instances = count;
    group->asks = asks;
    group->node_label_count = action_label(pod, label);
    group->node_labels = label;
    groups->instances += count;
}

/* Returns the pod at this position of a set (NULL: of all pods). */
static const struct doc *pod_at(const struct groups *groups, const struct doc *set, uint32_t place)
{
    const struct doc *pod = first_of(groups->job, "tasks");
    while (!(set == NULL || in_set(pod, set)) || place_in(groups->job, set, pod) != place) {
        pod = pod->next;
        must(pod != NULL);
    }
    return pod;
}

static bool set_alike(const struct groups *groups, const struct doc *set)
{
    const struct doc *first = pod_at(groups, set, 0);
    for (const struct doc *pod = first_of(groups->job, "tasks"); pod != NULL; pod = pod->next) {
        if (in_set(pod, set) && !action_alike(groups->job, first, pod)) {
            return false;
        }
    }
    return true;
}

static void set_add(struct groups *groups, const struct doc *set, uint32_t parent)
{
    const uint32_t count = set_count(groups->job, set);
    if (set_alike(groups, set)) {
        pods_add(groups, pod_at(groups, set, 0), count, set_min(set), parent);
        return;
    }
    (void)group_new(groups, parent, set_min(set));
    const uint32_t own = groups->spec->group_count;
    for (uint32_t i = 0; i < count; i++) {
        pods_add(groups, pod_at(groups, set, i), 1, 0, own);
    }
}

static uint32_t group_min(const struct doc *group)
{
    uint64_t min = 0;
    (void)reads_u64(reads_get(group, "min_subgroups"), &min);
    return (uint32_t)min;
}

static void group_add(struct groups *groups, const struct doc *group, uint32_t parent)
{
    for (const struct doc *one = first_of(group, "subgroups"); one != NULL; one = one->next) {
        struct group_spec *next = group_new(groups, parent, group_min(one));
        topology_read(one, &next->topology);
        group_add(groups, one, groups->spec->group_count);
    }
    for (const struct doc *set = first_of(group, "podsets"); set != NULL; set = set->next) {
        set_add(groups, set, parent);
    }
}

void action_groups(const struct doc *job, const struct job_shape *shape, struct arena *arena,
                   struct task_spec *spec)
{
    struct groups groups = {.job = job, .arena = arena, .spec = spec};
    const struct doc *tree = reads_get(job, "groups");
    groups.list = arena_new(arena, struct group_spec, TASK_GROUPS_MAX);
    spec->group_count = 0;
    spec->node_label_count = 0;
    spec->min_instances = 0;
    if (tree != NULL) {
        spec->min_groups = group_min(tree);
        group_add(&groups, tree, 0);
    }
    for (uint32_t i = 0; i < shape->count && tree == NULL; i++) {
        spec->min_groups = shape->min;
        pods_add(&groups, pod_at(&groups, NULL, i), 1, 0, 0);
    }
    spec->groups = groups.list;
    spec->instances = groups.instances;
}
