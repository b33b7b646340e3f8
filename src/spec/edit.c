/* edit.c - changes to tasks and nodes. Each field that is read sets its bit.
 * SPDX-License-Identifier: Apache-2.0 */
#include "spec/edit.h"

#include "spec/object_read.h"
#include "spec/task_internal.h"
#include "core/model/limits.h"
#include "core/model/names.h"

#include <string.h>

/* An edit of resources replaces the whole request of an instance. */
static void asks_finish(const struct doc_value *v, struct task_draft *draft)
{
    const struct doc_value resources = fields_child(v, "resources");
    if (doc_get(resources.doc, "resource_pool") != NULL) {
        fields_problem_in(&resources, "resource_pool", "use the field 'pool' to change the pool");
        return;
    }
    task_resources_finish(v, draft);
}

/* Reads one field of the body into the draft. Returns the bit of the field; 0: a problem was
 * noted. */
static uint32_t edit_field(struct doc_value *v, struct task_draft *draft)
{
    const struct doc *doc = v->doc;
    v->field = fields_find(v, task_file_fields);
    if (v->field == NULL) {
        return 0;
    }
    const struct object_field *row = v->field->row;
    if (row == NULL || row->edit == EDIT_NEVER) {
        fields_problem(v, "this field cannot change; use `weir task retry` or submit a new task");
        return 0;
    }
    if (str_is(doc->key, "pools") && doc->kind == DOC_LIST && doc->count == 0) {
        fields_problem(v, "it names no pool, like [spot, on-demand]");
        return 0;
    }
    const bool map = str_is(doc->key, "topology") || str_is(doc->key, "fallback");
    const bool none = map && doc->kind == DOC_MAP && doc->count == 0;
    if (!none) { /* an empty map removes both levels, or all conditions */
        v->field->read(v, draft);
    }
    return (uint32_t)1 << row->bit;
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

static void task_edit_read(const struct doc_value *v, void *ret)
{
    struct task_draft *draft = task_file_draft(v->in->arena);
    const struct problems *problems = v->in->problems;
    uint32_t fields = 0;
    if (v->doc->kind != DOC_MAP) {
        fields_wanted(v, "a map of fields");
        return;
    }
    for (struct doc_value item = fields_first(v); item.doc != NULL; fields_next(&item)) {
        fields |= item.doc->kind != DOC_NULL ? edit_field(&item, draft) : 0;
    }
    if (problems->total == 0 && fields & TASK_EDIT_resources) {
        asks_finish(v, draft);
    }
    if (problems->total == 0 && fields == 0) {
        fields_problem(v, "nothing to change; give some of %s", edit_names(v->in->arena));
    }
    *(struct task_edit *)ret = (struct task_edit){.fields = fields, .spec = &draft->spec};
}

enum err edit_task_read(const struct doc *doc, struct arena *arena, struct task_edit *ret,
                        struct error *e)
{
    return fields_document(doc, arena, task_edit_read, ret, sizeof *ret, e);
}

static void draining_read(const struct doc_value *v, void *object)
{
    struct node_edit *edit = object;
    edit->fields |= NODE_EDIT_DRAIN;
    (void)fields_value_bool(v, &edit->drain);
}

static void labels_read(const struct doc_value *v, void *object)
{
    struct node_edit *edit = object;
    edit->fields |= NODE_EDIT_LABELS;
    (void)object_read_labels(v, NODE_LABELS_MAX, true, &edit->labels, &edit->label_count);
}

static void locked_read(const struct doc_value *v, void *object)
{
    struct node_edit *edit = object;
    edit->fields |= NODE_EDIT_LOCK;
    (void)fields_value_bool(v, &edit->locked);
}

static void busy_read(const struct doc_value *v, void *object)
{
    struct node_edit *edit = object;
    const char *word;
    edit->fields |= NODE_EDIT_BUSY;
    if (fields_value_text(v, SIZE_MAX, &word) && !names_busy_parse(word, &edit->busy)) {
        fields_problem(v, "it is wait, requeue, kill or refuse, not '%.40s'", word);
    }
}

static const struct field node_edit_fields[] = {
    {.name = "draining", .read = draining_read},
    {.name = "labels", .read = labels_read},
    {.name = "locked", .read = locked_read},
    {.name = "busy", .read = busy_read},
    {.name = "within", .read = fields_duration, .offset = offsetof(struct node_edit, within_ms)},
    {0}};

/* Checks what is said of the tasks on a node that is drained. */
static void node_busy_check(const struct doc_value *v, const struct node_edit *edit)
{
    const bool drains = edit->fields & NODE_EDIT_DRAIN && edit->drain;
    const bool busy = (edit->fields & NODE_EDIT_BUSY) != 0;
    const bool labels = (edit->fields & NODE_EDIT_LABELS) != 0;
    if ((busy && !drains && !labels) || (edit->within_ms != 0 && !drains)) {
        fields_problem_in(v, busy ? "busy" : "within", "it goes with draining: true%s",
                          busy ? ", or with labels" : "");
    } else if (edit->within_ms > 0 &&
               (!busy || (edit->busy != BUSY_REQUEUE && edit->busy != BUSY_KILL))) {
        fields_problem_in(v, "within", "it goes with busy: requeue or busy: kill");
    }
}

static void node_edit_read(const struct doc_value *v, void *object)
{
    struct node_edit *edit = object;
    *edit = (struct node_edit){0};
    if (fields_read(v, node_edit_fields, edit) && (edit->fields & ~(uint32_t)NODE_EDIT_BUSY) == 0) {
        fields_problem(v, "nothing to change; give draining, labels, locked or several of these");
    } else {
        node_busy_check(v, edit);
    }
}

enum err edit_node_read(const struct doc *doc, struct arena *arena, struct node_edit *ret,
                        struct error *e)
{
    return fields_document(doc, arena, node_edit_read, ret, sizeof *ret, e);
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
