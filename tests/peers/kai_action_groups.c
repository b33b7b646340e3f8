/* kai_action_groups.c - groups within a gang: sets of pods that ask for different things, or have to be close together.
 *
 * Sets within a group come behind the groups within it: so pods stand in the order in which cases list them. Every set needs all
 * of its pods.
 * SPDX-License-Identifier: Apache-2.0 */
#include "kai_action.h"
#include "read.h"

#include <string.h>

struct groups {
    const struct doc *job;
    struct arena *arena;
    struct task_spec *spec; /* what each pod asks for, unless it says otherwise */
    struct group_spec *list;
    uint32_t instances;
};

static void topology_read(const struct doc *group, struct topology_spec *ret)
{
    const struct doc *topology = doc_get(group, "topology");
    (void)doc_text(doc_get(topology, "required_level"), &ret->required);
    (void)doc_text(doc_get(topology, "preferred_level"), &ret->preferred);
}

/* A group of one pod, or of all that are alike: each pod is one. */
static void pod_add(struct groups *groups, const struct doc *pod, uint32_t parent)
{
    struct task_spec *asks = arena_dup(groups->arena, groups->spec, sizeof *asks);
    struct named_amount *profile = arena_new(groups->arena, struct named_amount, 1);
    const struct doc *per_task = doc_get(groups->job, "per_task");
    asks->slots_milli = read_milli(doc_get(pod, "gpus"), read_milli(doc_get(per_task, "gpus"), 0));
    asks->needs_gpu = asks->slots_milli > 0;
    (void)action_profile(pod, profile);
    asks->resources = profile;
    asks->resource_count = profile->name[0] != '\0';
    groups->list[groups->spec->group_count++] = (struct group_spec){
        .name = arena_fmt(groups->arena, "pod%u", groups->instances++),
        .parent = parent,
        .instances = 1,
        .asks = asks,
    };
}

static void set_add(struct groups *groups, const struct doc *set, uint32_t parent)
{
    const char *name = "";
    (void)doc_text(doc_get(set, "name"), &name);
    for (const struct doc *pod = doc_get(groups->job, "tasks")->first; pod != NULL;
         pod = pod->next) {
        if (read_is(doc_get(pod, "podset"), name)) {
            pod_add(groups, pod, parent);
        }
    }
}

/* Recursion is as deep as a case has groups. */
static void group_add(struct groups *groups, const struct doc *group, uint32_t parent)
{
    const struct doc *below = doc_get(group, "subgroups");
    const struct doc *sets = doc_get(group, "podsets");
    for (const struct doc *one = below == NULL ? NULL : below->first; one != NULL;
         one = one->next) {
        struct group_spec *next = &groups->list[groups->spec->group_count++];
        *next = (struct group_spec){
            .name = arena_fmt(groups->arena, "group%u", groups->spec->group_count),
            .parent = parent};
        topology_read(one, &next->topology);
        group_add(groups, one, groups->spec->group_count);
    }
    for (const struct doc *set = sets == NULL ? NULL : sets->first; set != NULL; set = set->next) {
        set_add(groups, set, parent);
    }
}

void action_groups(const struct doc *job, struct arena *arena, struct task_spec *spec)
{
    struct groups groups = {.job = job, .arena = arena, .spec = spec};
    const struct doc *tree = doc_get(job, "groups");
    groups.list = arena_new(arena, struct group_spec, TASK_GROUPS_MAX);
    spec->group_count = 0;
    if (tree != NULL) {
        group_add(&groups, tree, 0);
    }
    for (const struct doc *pod = doc_get(job, "tasks")->first; pod != NULL && tree == NULL;
         pod = pod->next) {
        pod_add(&groups, pod, 0);
    }
    spec->groups = groups.list;
    spec->instances = groups.instances;
}
