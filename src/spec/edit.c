/* edit.c - changes to tasks and nodes. Each field that is read sets its bit.
 * SPDX-License-Identifier: Apache-2.0 */
#include "spec/edit.h"

#include "spec/fields.h"
#include "spec/resources_text.h"
#include "spec/task_internal.h"
#include "spec/task_file.h"
#include "core/model/limits.h"

#include <string.h>

/* An edit while it is read; the task has what an instance asks for. */
struct edit_draft {
    struct task_edit edit;
    struct task_draft task;
};

static void priority_read(struct reader *in, const struct doc_place *place, const struct doc *doc,
                          const struct field *field, void *object)
{
    struct task_edit *edit = &((struct edit_draft *)object)->edit;
    edit->fields |= EDIT_PRIORITY;
    fields_u32(in, place, doc, field, object);
}

static void retries_read(struct reader *in, const struct doc_place *place, const struct doc *doc,
                         const struct field *field, void *object)
{
    struct task_edit *edit = &((struct edit_draft *)object)->edit;
    edit->fields |= EDIT_RETRIES;
    fields_u32(in, place, doc, field, object);
}

static void time_limit_read(struct reader *in, const struct doc_place *place, const struct doc *doc,
                            const struct field *field, void *object)
{
    struct task_edit *edit = &((struct edit_draft *)object)->edit;
    edit->fields |= EDIT_TIME_LIMIT;
    fields_duration(in, place, doc, field, object);
}

static void grace_read(struct reader *in, const struct doc_place *place, const struct doc *doc,
                       const struct field *field, void *object)
{
    struct task_edit *edit = &((struct edit_draft *)object)->edit;
    edit->fields |= EDIT_GRACE;
    fields_duration(in, place, doc, field, object);
}

static void edit_name_read(struct reader *in, const struct doc_place *place, const struct doc *doc,
                           const struct field *field, void *object)
{
    struct task_edit *edit = &((struct edit_draft *)object)->edit;
    edit->fields |= EDIT_NAME;
    fields_text(in, place, doc, field, object);
}

static void pool_read(struct reader *in, const struct doc_place *place, const struct doc *doc,
                      const struct field *field, void *object)
{
    struct task_edit *edit = &((struct edit_draft *)object)->edit;
    edit->fields |= EDIT_POOL;
    fields_name(in, place, doc, field, object);
}

static void edit_tags_read(struct reader *in, const struct doc_place *place, const struct doc *doc,
                           const struct field *field, void *object)
{
    struct task_edit *edit = &((struct edit_draft *)object)->edit;
    if (doc->kind != DOC_LIST || doc->count > field->max) {
        fields_problem(in, place, doc, "a list of at most %d texts is wanted, not %s",
                       (int)field->max, doc->kind == DOC_LIST ? "a longer one" : fields_what(doc));
        return;
    }
    const char **tags = arena_new(in->arena, const char *, doc->count + 1);
    uint32_t count = 0;
    for (const struct doc *item = doc->first; item != NULL; item = item->next) {
        struct doc_place at = {.up = place, .index = count};
        if (!fields_value_text(in, &at, item, TEXT_LEN_MAX, &tags[count])) {
            return;
        }
        if (tags[count][0] == '\0') {
            fields_problem(in, &at, item, "a tag is not empty");
            return;
        }
        count++;
    }
    edit->fields |= EDIT_TAGS;
    edit->tags = tags;
    edit->tag_count = count;
}

static void project_read(struct reader *in, const struct doc_place *place, const struct doc *doc,
                         const struct field *field, void *object)
{
    struct edit_draft *draft = object;
    draft->edit.fields |= EDIT_PROJECT;
    fields_name(in, place, doc, field, object);
}

static void asks_read(struct reader *in, const struct doc_place *place, const struct doc *doc,
                      const struct field *field, void *object)
{
    struct edit_draft *draft = object;
    draft->edit.fields |= EDIT_RESOURCES;
    task_resources_read(in, place, doc, field, &draft->task);
}

static void asked_devices_read(struct reader *in, const struct doc_place *place,
                               const struct doc *doc, const struct field *field, void *object)
{
    struct edit_draft *draft = object;
    draft->edit.fields |= EDIT_RESOURCES;
    task_resources_devices_read(in, place, doc, field, &draft->task);
}

static void edit_avoid_read(struct reader *in, const struct doc_place *place, const struct doc *doc,
                            const struct field *field, void *object)
{
    struct edit_draft *draft = object;
    task_resources_avoid_read(in, place, doc, field, &draft->task);
    draft->edit.fields |= EDIT_AVOID;
    draft->edit.avoid = draft->task.spec.avoid;
    draft->edit.avoid_count = draft->task.spec.avoid_count;
}

static void edit_labels_read(struct reader *in, const struct doc_place *place,
                             const struct doc *doc, const struct field *field, void *object)
{
    struct edit_draft *draft = object;
    task_resources_node_labels_read(in, place, doc, field, &draft->task);
    draft->edit.fields |= EDIT_LABELS;
    draft->edit.node_labels = draft->task.spec.node_labels;
    draft->edit.node_label_count = draft->task.spec.node_label_count;
}

/* {}: none any more. */
static void edit_topology_read(struct reader *in, const struct doc_place *place,
                               const struct doc *doc, const struct field *field, void *object)
{
    struct edit_draft *draft = object;
    draft->edit.fields |= EDIT_TOPOLOGY;
    if (doc->kind != DOC_MAP || doc->count > 0) {
        task_groups_topology_read(in, place, doc, field, object);
    }
}

/* What an instance asks for: all of it anew. */
static void asks_finish(struct reader *in, const struct doc *doc, struct edit_draft *draft)
{
    if (draft->task.pools != NULL) {
        struct doc_place pool = {.key = "resources.resource_pool"};
        fields_problem(in, &pool, draft->task.pools, "the pool is changed by 'pool'");
        return;
    }
    task_resources_finish(in, NULL, doc, &draft->task);
    draft->edit.asks = arena_dup(in->arena, &draft->task.spec, sizeof draft->task.spec);
}

#define IN_EDIT(member) offsetof(struct edit_draft, edit.member)
#define NOT_EDITED "it cannot change; `weir task retry` or a new task would do"

static const struct field task_edit_fields[] = {
    {"priority", priority_read, IN_EDIT(priority), PRIORITY_MIN, PRIORITY_MAX, NULL},
    {"time_limit", time_limit_read, IN_EDIT(time_limit_ms), 0, 0, NULL},
    {"max_retries", retries_read, IN_EDIT(max_retries), 0, RETRIES_MAX, NULL},
    {"grace", grace_read, IN_EDIT(grace_ms), 0, 0, NULL},
    {"name", edit_name_read, IN_EDIT(name), 0, TEXT_LEN_MAX, NULL},
    {"tags", edit_tags_read, 0, 0, TASK_TAGS_MAX, NULL},
    {"pool", pool_read, IN_EDIT(pool), 0, 0, "a pool"},
    {"project", project_read, IN_EDIT(project), 0, 0, "a project"},
    {"resources", asks_read, 0, 0, 0, NULL},
    {"devices", asked_devices_read, 0, 0, 0, NULL},
    {"avoid", edit_avoid_read, 0, 0, TASK_AVOID_MAX, NULL},
    {"node_labels", edit_labels_read, 0, 0, TASK_LABELS_MAX, NULL},
    {"topology", edit_topology_read, IN_EDIT(topology), 0, 0, NULL},
    {"command", NULL, 0, 0, 0, NOT_EDITED},
    {"entrypoint", NULL, 0, 0, 0, NOT_EDITED},
    {"env", NULL, 0, 0, 0, NOT_EDITED},
    {"workdir", NULL, 0, 0, 0, NOT_EDITED},
    {"image", NULL, 0, 0, 0, NOT_EDITED},
    {"kind", NULL, 0, 0, 0, NOT_EDITED},
    {"user", NULL, 0, 0, 0, NOT_EDITED},
    {"instances", NULL, 0, 0, 0, NOT_EDITED},
    {"min_instances", NULL, 0, 0, 0, NOT_EDITED},
    {"min_groups", NULL, 0, 0, 0, NOT_EDITED},
    {"groups", NULL, 0, 0, 0, NOT_EDITED},
    {"array", NULL, 0, 0, 0, NOT_EDITED},
    {"gang", NULL, 0, 0, 0, NOT_EDITED},
    {"preemptible", NULL, 0, 0, 0, NOT_EDITED},
    {"repeatable", NULL, 0, 0, 0, NOT_EDITED},
    {"depends_on", NULL, 0, 0, 0, NOT_EDITED},
    {0},
};

enum err edit_task_read(const struct doc *doc, struct arena *arena, struct task_edit *ret,
                        struct error *e)
{
    struct problems problems = {0};
    struct reader in = {.arena = arena, .problems = &problems};
    struct edit_draft draft = {0};
    task_file_spec_init(&draft.task.spec);
    fields_read(&in, NULL, doc, task_edit_fields, &draft);
    if (problems.total == 0 && draft.edit.fields & EDIT_RESOURCES) {
        asks_finish(&in, doc, &draft);
    }
    if (problems.total == 0 && draft.edit.fields == 0) {
        fields_problem(&in, NULL, doc,
                       "nothing to change; give some of priority, time_limit, max_retries, grace, "
                       "name, tags, pool, project, resources, avoid, node_labels, topology");
    }
    enum err r = problem_error(&problems, e);
    if (r == ERR_OK) {
        *ret = draft.edit;
    }
    return r;
}

static void draining_read(struct reader *in, const struct doc_place *place, const struct doc *doc,
                          const struct field *field, void *object)
{
    struct node_edit *edit = object;
    edit->fields |= NODE_EDIT_DRAIN;
    fields_bool(in, place, doc, field, object);
}

static void labels_read(struct reader *in, const struct doc_place *place, const struct doc *doc,
                        const struct field *field, void *object)
{
    struct node_edit *edit = object;
    if (doc->kind != DOC_MAP || doc->count > field->max) {
        fields_problem(in, place, doc, "a map of at most %d labels is wanted, not %s",
                       (int)field->max, doc->kind == DOC_MAP ? "a larger one" : fields_what(doc));
        return;
    }
    struct label *labels = arena_new(in->arena, struct label, doc->count + 1);
    uint32_t count = 0;
    for (const struct doc *item = doc->first; item != NULL; item = item->next) {
        struct doc_place at = {.up = place, .key = item->key.p};
        struct error e;
        const char *value = NULL;
        bool gone = item->kind == DOC_NULL;
        if (!gone && !fields_value_text(in, &at, item, TEXT_LEN_MAX, &value)) {
            return;
        }
        if (resources_text_label_check(item->key, str_of(value), &e) != ERR_OK) {
            fields_problem(in, &at, item, "%s", e.text);
            return;
        }
        labels[count++] = (struct label){item->key.p, value};
    }
    edit->fields |= NODE_EDIT_LABELS;
    edit->labels = labels;
    edit->label_count = count;
}

static const struct field node_edit_fields[] = {
    {"draining", draining_read, offsetof(struct node_edit, drain), 0, 0, NULL},
    {"labels", labels_read, 0, 0, NODE_LABELS_MAX, NULL},
    {0},
};

enum err edit_node_read(const struct doc *doc, struct arena *arena, struct node_edit *ret,
                        struct error *e)
{
    struct problems problems = {0};
    struct reader in = {.arena = arena, .problems = &problems};
    struct node_edit edit = {0};
    fields_read(&in, NULL, doc, node_edit_fields, &edit);
    if (problems.total == 0 && edit.fields == 0) {
        fields_problem(&in, NULL, doc, "nothing to change; give draining, labels or both");
    }
    enum err r = problem_error(&problems, e);
    if (r == ERR_OK) {
        *ret = edit;
    }
    return r;
}

/* The edit of this key, or NULL. */
static const struct label *label_find(const struct label *labels, uint32_t count, const char *key)
{
    for (uint32_t i = 0; i < count; i++) {
        if (strcmp(labels[i].key, key) == 0) {
            return &labels[i];
        }
    }
    return NULL;
}

enum err edit_labels_merge(const struct label *have, uint32_t have_count,
                           const struct node_edit *edit, struct arena *arena, struct node_edit *ret,
                           struct error *e)
{
    struct label *merged = arena_new(arena, struct label, have_count + edit->label_count + 1);
    uint32_t count = 0;
    for (uint32_t i = 0; i < have_count; i++) {
        const struct label *change = label_find(edit->labels, edit->label_count, have[i].key);
        if (change == NULL) {
            merged[count++] = have[i];
        } else if (change->value != NULL) {
            merged[count++] = *change;
        }
    }
    for (uint32_t i = 0; i < edit->label_count; i++) {
        bool had = label_find(have, have_count, edit->labels[i].key) != NULL;
        if (!had && edit->labels[i].value != NULL) {
            merged[count++] = edit->labels[i];
        }
    }
    if (count > NODE_LABELS_MAX) {
        return fail_at(e, ERR_LIMIT, "labels", "labels: a node has at most %d labels, not %u",
                       NODE_LABELS_MAX, count);
    }
    *ret = *edit;
    ret->labels = merged;
    ret->label_count = count;
    return ERR_OK;
}
