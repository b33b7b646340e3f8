/* edit.c - changes to tasks and nodes. Each field that is read sets its bit.
 * SPDX-License-Identifier: Apache-2.0 */
#include "spec/edit.h"

#include "spec/fields.h"
#include "spec/resources_text.h"
#include "spec/task_internal.h"
#include "spec/task_file.h"
#include "core/model/limits.h"

#include <string.h>

/* An edit of resources replaces the whole request of an instance. */
static void asks_finish(struct reader *in, const struct doc *doc, struct task_draft *draft)
{
    const struct doc *resources = doc_get(doc, "resources");
    if (resources != NULL && resources->kind == DOC_MAP &&
        doc_get(resources, "resource_pool") != NULL) {
        struct doc_place pool = {.key = "resources.resource_pool"};
        fields_problem(in, &pool, resources, "use the field 'pool' to change the pool");
        return;
    }
    task_resources_finish(in, NULL, doc, draft);
}

/* Reads one field of the body into the draft. Returns the bit of the field; 0: a problem was
 * noted. */
static uint32_t edit_field(struct reader *in, const struct doc *doc, struct task_draft *draft)
{
    const struct doc_place place = {.key = doc->key.p};
    const struct field *field = fields_find(in, &place, doc, task_file_fields);
    if (field == NULL) {
        return 0;
    }
    if (field->row == NULL || field->row->edit == EDIT_NEVER) {
        fields_problem(in, &place, doc,
                       "this field cannot change; use `weir task retry` or submit a new task");
        return 0;
    }
    if (str_is(doc->key, "pools") && doc->kind == DOC_LIST && doc->count != 1) {
        fields_problem(in, &place, doc, "a task can be moved to one pool only");
        return 0;
    }
    const bool none = str_is(doc->key, "topology") && doc->kind == DOC_MAP && doc->count == 0;
    if (!none) { /* an empty map removes both levels */
        field->read(in, &place, doc, field, draft);
    }
    return (uint32_t)1 << field->row->bit;
}

/* Lists the fields that can change, for a message: "priority, time_limit, …". */
static const char *edit_names(struct arena *arena)
{
    const char *names = "";
    for (uint32_t i = 0; i < task_object.count; i++) {
        const struct object_field *row = &task_object.fields[i];
        if (row->edit != EDIT_NEVER && i != TASK_FIELD_pools) {
            names =
                arena_fmt(arena, "%s%s%s", names, names[0] != '\0' ? ", " : "", row->record.name);
        }
    }
    return names;
}

enum err edit_task_read(const struct doc *doc, struct arena *arena, struct task_edit *ret,
                        struct error *e)
{
    struct problems problems = {0};
    struct reader in = {.arena = arena, .problems = &problems};
    struct task_draft *draft = arena_new(arena, struct task_draft, 1);
    uint32_t fields = 0;
    task_file_spec_init(&draft->spec);
    if (doc->kind != DOC_MAP) {
        fields_problem(&in, NULL, doc, "a map of fields is wanted, not %s", fields_what(doc));
    }
    for (const struct doc *item = doc->kind == DOC_MAP ? doc->first : NULL; item != NULL;
         item = item->next) {
        fields |= item->kind != DOC_NULL ? edit_field(&in, item, draft) : 0;
    }
    if (problems.total == 0 && fields & TASK_EDIT_resources) {
        asks_finish(&in, doc, draft);
    }
    if (problems.total == 0 && fields == 0) {
        fields_problem(&in, NULL, doc, "nothing to change; give some of %s", edit_names(arena));
    }
    enum err r = problem_error(&problems, e);
    if (r == ERR_OK) {
        *ret = (struct task_edit){.fields = fields, .spec = &draft->spec};
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
    {.name = "draining", .read = draining_read, .offset = offsetof(struct node_edit, drain)},
    {.name = "labels", .read = labels_read, .max = NODE_LABELS_MAX},
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

/* Finds the label with this key in the list; NULL: there is none. */
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
