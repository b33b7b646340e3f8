/* object_again.c - see object_again.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "spec/object_again.h"

#include "base/amount.h"
#include "spec/task_file.h"

#include <inttypes.h>
#include <string.h>

static void child_add(struct doc *map, struct arena *arena, const char *key,
                      const struct doc *value)
{
    struct doc *child = arena_dup(arena, value, sizeof *value);
    child->key = str_of(key);
    child->next = map->first;
    map->first = child;
    map->count++;
}

static struct doc text_doc(const char *text)
{
    return (struct doc){.kind = DOC_STRING, .quoted = true, .text = str_of(text)};
}

/* Adds milliseconds as a duration, or a negative number as its word. A null stands for the
 * lowest value of the row. A default is left out. */
static void duration_add(struct doc *map, struct arena *arena, const struct object_field *row,
                         const struct doc *value)
{
    int64_t ms = row->record.low;
    char text[AMOUNT_TEXT_MAX];
    if (value->kind != DOC_NULL && (!doc_i64(value, &ms) || ms < row->record.low)) {
        /* The reader of the field reports the bad value. */
        child_add(map, arena, row->record.name, value);
        return;
    }
    struct str rest = str_of(row->words);
    struct str word = {0};
    for (int64_t left = ms; left < 0 && rest.p != NULL; left++) {
        word = str_cut(rest, ' ', &rest);
    }
    if (ms == row->otherwise) {
        return;
    }
    amount_duration_text(ms, text);
    struct doc said =
        text_doc(word.p != NULL ? arena_strn(arena, word.p, word.len) : arena_str(arena, text));
    said.line = value->line;
    said.column = value->column;
    child_add(map, arena, row->record.name, &said);
}

/* Finds a duration in the API's object, which appends `_ms` to the field's name. */
static const struct doc *shown_of(const struct object_field *row, const struct doc *from,
                                  struct arena *arena)
{
    const struct doc *value = doc_get(from, arena_fmt(arena, "%s_ms", row->record.name));
    const bool renamed = value == NULL && strcmp(row->record.name, "preemption_delay") == 0;
    return renamed ? doc_get(from, "preempt_delay_ms") : value; /* its name before, of a pool */
}

static void group_add(const struct object *object, unsigned groups, const struct doc *from,
                      struct doc *map, struct arena *arena)
{
    for (uint32_t i = 0; i < object->count; i++) {
        const struct object_field *row = &object->fields[i];
        if ((groups >> row->group & 1) == 0) {
            continue;
        }
        const struct doc *value = doc_get(from, row->record.name);
        if (value != NULL && value->kind != DOC_NULL) {
            child_add(map, arena, row->record.name, value);
        } else if (row->record.type == RECORD_MS && shown_of(row, from, arena) != NULL) {
            duration_add(map, arena, row, shown_of(row, from, arena));
        }
    }
}

/* Returns a map inside another map; NULL: there is none. */
static const struct doc *map_in(const struct doc *map, const char *key)
{
    const struct doc *inner = map != NULL ? doc_get(map, key) : NULL;
    return inner != NULL && inner->kind == DOC_MAP ? inner : NULL;
}

const struct doc *object_again(const struct object *object, const struct doc *item,
                               struct arena *arena)
{
    const struct doc *spec = map_in(item, "spec");
    if (spec != NULL) {
        return spec;
    }
    struct doc *map = arena_new(arena, struct doc, 1);
    *map = (struct doc){.kind = DOC_MAP, .line = item->line, .column = item->column};
    group_add(object, 1U << GROUP_TOP | 1U << GROUP_OWN, item, map, arena);
    const struct doc *scheduler = map_in(item, "scheduler");
    const struct doc *history = map_in(scheduler, "history");
    struct doc inner = {.kind = DOC_MAP, .line = item->line, .column = item->column};
    struct doc past = inner;
    if (history != NULL) {
        group_add(object, 1U << GROUP_HISTORY, history, &past, arena);
        child_add(&inner, arena, "history", &past);
    }
    if (scheduler != NULL) {
        group_add(object, 1U << GROUP_SCHEDULER, scheduler, &inner, arena);
        child_add(map, arena, "scheduler", &inner);
    }
    return map;
}

const struct doc *object_again_fields(const struct field *fields, const struct doc *item,
                                      struct arena *arena)
{
    struct doc *map = arena_new(arena, struct doc, 1);
    *map = (struct doc){.kind = DOC_MAP, .line = item->line, .column = item->column};
    for (; fields->name != NULL; fields++) {
        const struct doc *value = doc_get(item, fields->name);
        if (value != NULL && value->kind != DOC_NULL) {
            child_add(map, arena, fields->name, value);
        }
    }
    return map;
}

static void child_drop(struct doc *map, const char *key)
{
    for (struct doc **at = &map->first; *at != NULL; at = &(*at)->next) {
        if (str_is((*at)->key, key)) {
            *at = (*at)->next;
            map->count--;
            return;
        }
    }
}

/* Drops fields that follow from other fields. The API's object shows instances, groups and gang
 * all together; a submission may not name all of them. */
static void instances_settle(struct doc *map, const struct doc *task, struct arena *arena)
{
    uint64_t first = 0;
    uint64_t count = 0;
    bool gang = false;
    const bool grouped = doc_get(map, "groups") != NULL;
    (void)(doc_get(task, "gang") != NULL && doc_bool(doc_get(task, "gang"), &gang));
    if (!gang || grouped) {
        child_drop(map, "min_instances");
    }
    if (grouped) {
        child_drop(map, "instances");
    } else if (doc_get(task, "array_first") != NULL &&
               doc_u64(doc_get(task, "array_first"), &first) && first > 0 &&
               doc_u64(doc_get(task, "instances"), &count)) {
        struct doc range =
            text_doc(arena_fmt(arena, "%" PRIu64 "-%" PRIu64, first, first + count - 1));
        child_drop(map, "instances");
        child_add(map, arena, "array", &range);
    }
    child_drop(map, "pool"); /* `pools` says more */
}

const struct doc *object_again_task_map(const struct doc *task, struct arena *arena)
{
    const struct doc *map = object_again(&task_object, task, arena);
    if (map_in(task, "spec") == NULL) {
        struct doc *settled = arena_dup(arena, map, sizeof *map);
        instances_settle(settled, task, arena);
        return settled;
    }
    return map;
}

enum err object_again_task(const struct doc *task, struct arena *arena, struct task_spec *ret,
                           struct error *e)
{
    return task_file_spec_read(object_again_task_map(task, arena), arena, ret, e);
}
