/* task_groups.c - the topology of a gang, and the groups of a gang whose instances have
 * different requests.
 * SPDX-License-Identifier: Apache-2.0 */
#include "spec/object_read.h"
#include "spec/task_file.h"
#include "spec/resources_text.h"
#include "spec/task_internal.h"
#include "core/model/limits.h"

#include <string.h>

/* Reads one level of a pool's topology: the key of a node label. */
bool task_groups_level_read(struct reader *in, const struct doc_place *place, const struct doc *doc,
                            const char **ret)
{
    const char *level;
    if (!fields_value_text(in, place, doc, NAME_LEN_MAX, &level)) {
        return false;
    }
    if (level[0] == '\0') {
        fields_problem(in, place, doc, "it is empty; the key of a node label is wanted, like rack");
        return false;
    }
    struct error e;
    if (resources_text_label_check(str_of(level), str_of(""), &e) != ERR_OK) {
        fields_problem(in, place, doc, "%s", e.text);
        return false;
    }
    in->text_bytes += strlen(level) + 1;
    *ret = level;
    return true;
}

static void level_field(struct reader *in, const struct doc_place *place, const struct doc *doc,
                        const struct field *field, void *object)
{
    (void)task_groups_level_read(in, place, doc, (const char **)((char *)object + field->offset));
}

static const struct field topology_fields[] = {
    {.name = "required", .read = level_field, .offset = offsetof(struct topology_spec, required)},
    {.name = "preferred", .read = level_field, .offset = offsetof(struct topology_spec, preferred)},
    {0},
};

/* Reads `{required: zone, preferred: rack}`. */
static void topology_read(struct reader *in, const struct doc_place *place, const struct doc *doc,
                          struct topology_spec *topology)
{
    const uint32_t before = in->problems->total;
    fields_read(in, place, doc, topology_fields, topology);
    if (in->problems->total == before && topology->required == NULL &&
        topology->preferred == NULL) {
        fields_problem(in, place, doc, "it names no level, like {required: rack}");
    }
}

void task_groups_topology_read(struct reader *in, const struct doc_place *place,
                               const struct doc *doc, const struct field *field, void *object)
{
    (void)field;
    topology_read(in, place, doc, &((struct task_draft *)object)->spec.topology);
}

/* ---- groups ---- */

/* A group while it is read. */
struct group_draft {
    struct group_spec spec;
    const struct doc *resources; /* NULL: the instances request what the task requests */
    const struct doc *groups;    /* NULL: the group has instances */
    const struct doc *instances;
    const struct doc *min;        /* the place of the field, for messages */
    const struct doc *min_groups; /* as `min`; both numbers go into spec.min */
};

static void group_topology(struct reader *in, const struct doc_place *place, const struct doc *doc,
                           const struct field *field, void *object)
{
    (void)field;
    topology_read(in, place, doc, &((struct group_draft *)object)->spec.topology);
}

static void keep_doc(struct reader *in, const struct doc_place *place, const struct doc *doc,
                     const struct field *field, void *object)
{
    (void)in;
    (void)place;
    *(const struct doc **)((char *)object + field->offset) = doc;
}

static void group_instances(struct reader *in, const struct doc_place *place, const struct doc *doc,
                            const struct field *field, void *object)
{
    ((struct group_draft *)object)->instances = doc;
    fields_u32(in, place, doc, field, object);
}

static void group_min(struct reader *in, const struct doc_place *place, const struct doc *doc,
                      const struct field *field, void *object)
{
    ((struct group_draft *)object)->min = doc;
    fields_u32(in, place, doc, field, object);
}

static void group_min_groups(struct reader *in, const struct doc_place *place,
                             const struct doc *doc, const struct field *field, void *object)
{
    ((struct group_draft *)object)->min_groups = doc;
    fields_u32(in, place, doc, field, object);
}

static void group_node_labels(struct reader *in, const struct doc_place *place,
                              const struct doc *doc, const struct field *field, void *object)
{
    (void)field;
    struct group_spec *spec = &((struct group_draft *)object)->spec;
    (void)object_read_labels(in, place, doc, TASK_LABELS_MAX, &spec->node_labels,
                             &spec->node_label_count);
}

#define IN_GROUP(member) offsetof(struct group_draft, member)

static const struct field group_fields[] = {
    {.name = "name", .read = fields_name, .offset = IN_GROUP(spec.name), .note = "a group"},
    {.name = "instances",
     .read = group_instances,
     .offset = IN_GROUP(spec.instances),
     .min = 1,
     .max = TASK_INSTANCES_MAX},
    {.name = "min",
     .read = group_min,
     .offset = IN_GROUP(spec.min),
     .min = 1,
     .max = TASK_INSTANCES_MAX},
    {.name = "resources", .read = keep_doc, .offset = IN_GROUP(resources)},
    {.name = "node_labels", .read = group_node_labels},
    {.name = "topology", .read = group_topology},
    {.name = "groups", .read = keep_doc, .offset = IN_GROUP(groups)},
    {.name = "min_groups",
     .read = group_min_groups,
     .offset = IN_GROUP(spec.min),
     .min = 1,
     .max = TASK_GROUPS_MAX},
    {0},
};

/* Reads the request of each instance of a group. */
static const struct task_spec *group_asks(struct reader *in, const struct doc_place *place,
                                          const struct doc *doc)
{
    struct task_draft *draft = arena_new(in->arena, struct task_draft, 1);
    struct doc_place at = {.up = place, .key = "resources"};
    task_file_spec_init(&draft->spec);
    task_resources_read(in, &at, doc, NULL, draft);
    if (draft->pools != NULL) {
        fields_problem(in, &at, doc, "a pool belongs to the task, not to a group");
    }
    task_resources_finish(in, place, doc, draft);
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

static void groups_list(struct reader *in, const struct doc_place *place, const struct doc *doc,
                        struct task_spec *spec, uint32_t parent);

/* Checks rules that involve several fields of a group. */
static void group_check(struct reader *in, const struct doc_place *place, const struct doc *doc,
                        const struct task_spec *spec, const struct group_draft *draft)
{
    struct doc_place min = {.up = place, .key = "min"};
    struct doc_place min_groups = {.up = place, .key = "min_groups"};
    struct doc_place labels = {.up = place, .key = "node_labels"};
    if (name_taken(spec, draft->spec.name)) {
        fields_problem(in, place, doc, "two groups have the name '%s'", draft->spec.name);
    } else if ((draft->groups != NULL) == (draft->instances != NULL)) {
        fields_problem(in, place, doc, "a group has either instances or groups");
    } else if (draft->groups != NULL && draft->resources != NULL) {
        fields_problem(in, place, draft->resources,
                       "resources belong to the groups that have instances");
    } else if (draft->groups != NULL && draft->spec.node_label_count > 0) {
        fields_problem(in, &labels, doc_get(doc, "node_labels"),
                       "labels belong to the groups that have instances");
    } else if (draft->groups != NULL && draft->min != NULL) {
        fields_problem(
            in, &min, draft->min,
            "min is for a group that has instances; use min_groups for a group of groups");
    } else if (draft->groups == NULL && draft->min_groups != NULL) {
        fields_problem(
            in, &min_groups, draft->min_groups,
            "min_groups is for a group of groups; use min for a group that has instances");
    } else if (draft->min != NULL && draft->spec.min > draft->spec.instances) {
        fields_problem(in, &min, draft->min, "it is above instances, which is %u",
                       draft->spec.instances);
    } else if (draft->min_groups != NULL && draft->groups->kind == DOC_LIST &&
               draft->spec.min > draft->groups->count) {
        fields_problem(in, &min_groups, draft->min_groups,
                       "it is above the number of groups, which is %u", draft->groups->count);
    } else if (spec->group_count == TASK_GROUPS_MAX) {
        fields_problem(in, place, doc, "a task has at most %d groups", TASK_GROUPS_MAX);
    }
}

/* The recursion is as deep as the tree of groups: at most GROUP_DEPTH_MAX. */
static void group_read(struct reader *in, const struct doc_place *place, const struct doc *doc,
                       struct task_spec *spec, uint32_t parent)
{
    struct group_draft draft = {.spec = {.parent = parent}};
    const uint32_t before = in->problems->total;
    fields_read(in, place, doc, group_fields, &draft);
    if (in->problems->total > before) {
        return;
    }
    if (draft.spec.name == NULL) {
        draft.spec.name = arena_fmt(in->arena, "group%u", spec->group_count);
    }
    group_check(in, place, doc, spec, &draft);
    if (in->problems->total > before) {
        return;
    }
    if (draft.resources != NULL) {
        draft.spec.asks = group_asks(in, place, draft.resources);
    }
    spec->instances += draft.spec.instances;
    ((struct group_spec *)(uintptr_t)spec->groups)[spec->group_count++] = draft.spec;
    if (draft.groups != NULL) {
        struct doc_place at = {.up = place, .key = "groups"};
        groups_list(in, &at, draft.groups, spec, spec->group_count);
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

static void groups_list(struct reader *in, const struct doc_place *place, const struct doc *doc,
                        struct task_spec *spec, uint32_t parent)
{
    if (doc->kind != DOC_LIST || doc->count == 0) {
        fields_problem(in, place, doc, "a list of groups is wanted, not %s",
                       doc->kind == DOC_LIST ? "an empty one" : fields_what(doc));
        return;
    }
    if (depth_of(spec, parent) == GROUP_DEPTH_MAX) {
        fields_problem(in, place, doc, "groups lie within groups at most %d deep", GROUP_DEPTH_MAX);
        return;
    }
    uint32_t index = 0;
    for (const struct doc *item = doc->first; item != NULL; item = item->next) {
        struct doc_place at = {.up = place, .index = index++};
        group_read(in, &at, item, spec, parent);
    }
}

void task_groups_read(struct reader *in, const struct doc_place *place, const struct doc *doc,
                      const struct field *field, void *object)
{
    (void)field;
    struct task_draft *draft = object;
    draft->groups = doc;
    struct task_spec list = {.groups = arena_new(in->arena, struct group_spec, TASK_GROUPS_MAX)};
    groups_list(in, place, doc, &list, 0);
    draft->spec.groups = list.groups;
    draft->spec.group_count = list.group_count;
    draft->group_instances = list.instances;
}

void task_groups_min_read(struct reader *in, const struct doc_place *place, const struct doc *doc,
                          const struct field *field, void *object)
{
    (void)field;
    struct task_draft *draft = object;
    uint64_t value;
    draft->min_groups = doc;
    if (fields_value_u64(in, place, doc, 1, TASK_GROUPS_MAX, &value)) {
        draft->spec.min_groups = (uint32_t)value;
    }
}

/* Node labels of the task hold for each group too, so the limit is on both together. */
static void labels_check(struct reader *in, const struct doc_place *place,
                         const struct task_draft *draft)
{
    for (uint32_t i = 0; i < draft->spec.group_count; i++) {
        const uint32_t count =
            draft->spec.groups[i].node_label_count + draft->spec.node_label_count;
        if (draft->spec.groups[i].node_label_count > 0 && count > TASK_LABELS_MAX) {
            fields_problem(
                in, place, draft->groups,
                "the group '%s' and the task together name %u labels of nodes; at most %d "
                "are allowed",
                draft->spec.groups[i].name, count, TASK_LABELS_MAX);
        }
    }
}

void task_groups_finish(struct reader *in, const struct doc_place *place, struct task_draft *draft)
{
    const struct doc *other = draft->instances != NULL       ? draft->instances
                              : draft->min_instances != NULL ? draft->min_instances
                                                             : draft->array;
    const struct doc_place at = {.up = place, .key = "groups"};
    if (draft->groups == NULL) {
        if (draft->min_groups != NULL) {
            const struct doc_place min = {.up = place, .key = "min_groups"};
            fields_problem(in, &min, draft->min_groups, "there are no groups");
        }
        return;
    }
    labels_check(in, &at, draft);
    if (draft->min_groups != NULL && draft->groups->kind == DOC_LIST &&
        draft->spec.min_groups > draft->groups->count) {
        const struct doc_place min = {.up = place, .key = "min_groups"};
        fields_problem(in, &min, draft->min_groups, "it is above the number of groups, which is %u",
                       draft->groups->count);
    } else if (other != NULL) {
        fields_problem(in, &at, other,
                       "instances, min_instances and array cannot be given together with groups");
    } else if (draft->group_instances > TASK_INSTANCES_MAX) {
        fields_problem(in, &at, draft->groups, "all groups together have at most %d instances",
                       TASK_INSTANCES_MAX);
    } else if (draft->group_instances > 0) {
        draft->spec.instances = draft->group_instances;
        draft->spec.gang = true;
    }
}
