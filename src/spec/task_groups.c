/* task_groups.c - the topology of a gang, and the groups of a gang whose instances have
 * different requests.
 * SPDX-License-Identifier: Apache-2.0 */
#include "spec/object_read.h"
#include "spec/resources_text.h"
#include "spec/task_internal.h"
#include "core/model/limits.h"

#include <string.h>

bool task_groups_level_read(const struct doc_value *v, const char **ret)
{
    const char *level;
    struct error e;
    if (!fields_value_text(v, NAME_LEN_MAX, &level)) {
        return false;
    }
    if (level[0] == '\0') {
        fields_problem(v, "it is empty; the key of a node label is wanted, like rack");
        return false;
    }
    if (!fields_ok(v, resources_text_label_check(str_of(level), str_of(""), &e), &e)) {
        return false;
    }
    v->in->text_bytes += strlen(level) + 1;
    *ret = level;
    return true;
}

static void level_field(const struct doc_value *v, void *object)
{
    (void)task_groups_level_read(v, (const char **)((char *)object + v->field->offset));
}

static const struct field topology_fields[] = {
    {.name = "required", .read = level_field, .offset = offsetof(struct topology_spec, required)},
    {.name = "preferred", .read = level_field, .offset = offsetof(struct topology_spec, preferred)},
    {0},
};

static void topology_read(const struct doc_value *v, struct topology_spec *topology)
{
    if (fields_read(v, topology_fields, topology) && topology->required == NULL &&
        topology->preferred == NULL) {
        fields_problem(v, "it names no level, like {required: rack}");
    }
}

void task_groups_topology_read(const struct doc_value *v, void *object)
{
    topology_read(v, &((struct task_draft *)object)->spec.topology);
}

/* ---- groups ---- */

static void group_topology(const struct doc_value *v, void *object)
{
    topology_read(v, &((struct group_spec *)object)->topology);
}

static void group_node_labels(const struct doc_value *v, void *object)
{
    struct group_spec *group = object;
    (void)object_read_labels(v, TASK_LABELS_MAX, false, &group->node_labels,
                             &group->node_label_count);
}

static const struct field group_fields[] = {
    FIELDS_NAME("name", struct group_spec, name, "a group"),
    FIELDS_COUNT("instances", struct group_spec, instances, 1, TASK_INSTANCES_MAX),
    FIELDS_COUNT("min", struct group_spec, min, 1, TASK_INSTANCES_MAX),
    {.name = "resources", .read = fields_skip}, /* group_asks() reads the value */
    {.name = "node_labels", .read = group_node_labels},
    {.name = "topology", .read = group_topology},
    {.name = "groups", .read = fields_skip}, /* group_read() reads the value */
    FIELDS_COUNT("min_groups", struct group_spec, min, 1, TASK_GROUPS_MAX),
    {0},
};

/* Reads the request of each instance of a group; NULL: the instances request what the task does. */
static const struct task_spec *group_asks(const struct doc_value *v)
{
    struct doc_value resources = fields_child(v, "resources");
    if (resources.doc == NULL) {
        return NULL;
    }
    struct task_draft *draft = task_file_draft(v->in->arena);
    task_resources_read(&resources, draft);
    if (draft->pools != NULL) {
        fields_problem(&resources, "a pool belongs to the task, not to a group");
    }
    task_resources_finish(v, draft);
    return &draft->spec;
}

static bool name_taken(const struct task_spec *spec, const char *name)
{
    for (uint32_t i = 0; i < spec->group_count; i++) {
        if (strcmp(spec->groups[i].name, name) == 0) {
            return true;
        }
    }
    return false;
}

/* Checks rules that involve several fields of a group. False: a problem was noted. */
static bool group_check(const struct doc_value *v, const struct task_spec *spec,
                        const struct group_spec *group)
{
    const uint32_t before = v->in->problems->total;
    const struct doc *groups = fields_given(v, "groups");
    const struct doc_value resources = {
        .in = v->in, .doc = fields_given(v, "resources"), .up = v->up, .index = v->index};
    const bool min_groups = fields_given(v, "min_groups") != NULL;
    const bool min = fields_given(v, "min") != NULL;
    if (name_taken(spec, group->name)) {
        fields_problem(v, "two groups have the name '%s'", group->name);
    } else if ((groups != NULL) == (group->instances > 0)) {
        fields_problem(v, "a group has either instances or groups");
    } else if (groups != NULL && resources.doc != NULL) {
        fields_problem(&resources, "resources belong to the groups that have instances");
    } else if (groups != NULL && group->node_label_count > 0) {
        fields_problem_in(v, "node_labels", "labels belong to the groups that have instances");
    } else if (groups != NULL && min) {
        fields_problem_in(
            v, "min",
            "min is for a group that has instances; use min_groups for a group of groups");
    } else if (groups == NULL && min_groups) {
        fields_problem_in(
            v, "min_groups",
            "min_groups is for a group of groups; use min for a group that has instances");
    } else if (min && group->min > group->instances) {
        fields_problem_in(v, "min", "it is above instances, which is %u", group->instances);
    } else if (min_groups && groups->kind == DOC_LIST && group->min > groups->count) {
        fields_problem_in(v, "min_groups", "it is above the number of groups, which is %u",
                          groups->count);
    } else if (spec->group_count == TASK_GROUPS_MAX) {
        fields_problem(v, "a task has at most %d groups", TASK_GROUPS_MAX);
    }
    return v->in->problems->total == before;
}

static void groups_list(const struct doc_value *v, struct task_spec *spec, uint32_t parent);

/* The recursion is as deep as the tree of groups: at most GROUP_DEPTH_MAX. */
static void group_read(const struct doc_value *v, struct task_spec *spec, uint32_t parent)
{
    struct group_spec group = {.parent = parent};
    if (!fields_read(v, group_fields, &group)) {
        return;
    }
    if (group.name == NULL) {
        group.name = arena_fmt(v->in->arena, "group%u", spec->group_count);
    }
    if (!group_check(v, spec, &group)) {
        return;
    }
    group.asks = group_asks(v);
    ((struct group_spec *)(uintptr_t)spec->groups)[spec->group_count++] = group;
    const struct doc_value groups = fields_child(v, "groups");
    if (groups.doc != NULL) {
        groups_list(&groups, spec, spec->group_count);
    }
}

static uint32_t depth_of(const struct task_spec *spec, uint32_t parent)
{
    uint32_t depth = 0;
    for (; parent > 0; parent = spec->groups[parent - 1].parent) {
        depth++;
    }
    return depth;
}

static void groups_list(const struct doc_value *v, struct task_spec *spec, uint32_t parent)
{
    if (v->doc->kind != DOC_LIST || v->doc->count == 0) {
        fields_problem(v, "a list of groups is wanted, not %s",
                       v->doc->kind == DOC_LIST ? "an empty one" : fields_what(v->doc));
        return;
    }
    if (depth_of(spec, parent) == GROUP_DEPTH_MAX) {
        fields_problem(v, "groups lie within groups at most %d deep", GROUP_DEPTH_MAX);
        return;
    }
    for (struct doc_value item = fields_first(v); item.doc != NULL; fields_next(&item)) {
        group_read(&item, spec, parent);
    }
}

void task_groups_read(const struct doc_value *v, void *object)
{
    struct task_spec *spec = &((struct task_draft *)object)->spec;
    spec->groups = arena_new(v->in->arena, struct group_spec, TASK_GROUPS_MAX);
    groups_list(v, spec, 0);
}

/* Counts the instances of all groups. Node labels of the task hold for each group too, so the
 * limit is on both together. */
static uint32_t groups_count(const struct doc_value *v, const struct task_spec *spec)
{
    uint32_t instances = 0;
    for (uint32_t i = 0; i < spec->group_count; i++) {
        const struct group_spec *group = &spec->groups[i];
        const uint32_t labels = group->node_label_count + spec->node_label_count;
        instances += group->instances;
        if (group->node_label_count > 0 && labels > TASK_LABELS_MAX) {
            fields_problem(v,
                           "the group '%s' and the task together name %u labels of nodes; at most "
                           "%d are allowed",
                           group->name, labels, TASK_LABELS_MAX);
        }
    }
    return instances;
}

void task_groups_finish(const struct doc_value *task, struct task_draft *draft)
{
    static const char *const others[] = {"instances", "min_instances", "array"};
    struct task_spec *spec = &draft->spec;
    struct doc_value groups = fields_child(task, "groups");
    const struct doc *other = NULL;
    for (size_t i = 0; i < sizeof others / sizeof others[0] && other == NULL; i++) {
        other = fields_given(task, others[i]);
    }
    if (groups.doc == NULL) {
        if (fields_given(task, "min_groups") != NULL) {
            fields_problem_in(task, "min_groups", "there are no groups");
        }
        return;
    }
    const uint32_t instances = groups_count(&groups, spec);
    if (groups.doc->kind == DOC_LIST && spec->min_groups > groups.doc->count) {
        fields_problem_in(task, "min_groups", "it is above the number of groups, which is %u",
                          groups.doc->count);
    } else if (other != NULL) {
        groups.doc = other;
        fields_problem(&groups,
                       "instances, min_instances and array cannot be given together with groups");
    } else if (instances > TASK_INSTANCES_MAX) {
        fields_problem(&groups, "all groups together have at most %d instances",
                       TASK_INSTANCES_MAX);
    } else if (instances > 0) {
        spec->instances = instances;
        spec->gang = true;
    }
}
