/* object_again.c - see object_again.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "spec/object_again.h"

#include "base/amount.h"
#include "base/doc_make.h"
#include "spec/task_file.h"
#include "spec/task_internal.h"

#include <inttypes.h>

/* Adds milliseconds as a duration, or a negative number as its word. A null stands for the
 * lowest value of the row. A default is left out. */
static void duration_add(struct doc *map, const struct field *field, const struct doc *value,
                         struct arena *arena)
{
    const struct object_field *row = field->row;
    int64_t ms = row->record.low;
    char text[AMOUNT_TEXT_MAX];
    if (value->kind != DOC_NULL && (!doc_i64(value, &ms) || ms < row->record.low)) {
        /* The reader of the field reports the bad value. */
        doc_make_put(arena, map, field->name, value);
        return;
    }
    if (ms == row->otherwise) {
        return;
    }
    amount_duration_text(ms, text);
    struct doc *said =
        doc_make_scalar(arena, DOC_STRING, ms < 0 ? object_word(row, ms) : str_of(text));
    said->line = value->line;
    said->column = value->column;
    doc_make_add(map, field->name, said);
}

const struct doc *object_again_map(const struct doc *map, const char *key)
{
    const struct doc *inner = doc_get(map, key);
    return inner != NULL && inner->kind == DOC_MAP ? inner : NULL;
}

struct doc *object_again_fields(const struct field *fields, const struct doc *item,
                                struct arena *arena)
{
    struct doc *map = doc_make(arena, DOC_MAP, item);
    for (; fields->name != NULL; fields++) {
        const struct doc *value = doc_get(item, fields->name);
        const bool given = value != NULL && value->kind != DOC_NULL;
        if (given && fields->read != NULL) {
            doc_make_put(arena, map, fields->name, value);
        } else if (!given && fields->row != NULL && fields->row->record.type == RECORD_MS) {
            value = doc_get(item, arena_fmt(arena, "%s_ms", fields->name));
            if (value != NULL) {
                duration_add(map, fields, value, arena);
            }
        }
    }
    return map;
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
        doc_make_drop(map, "min_instances");
    }
    if (grouped) {
        doc_make_drop(map, "instances");
    } else if (doc_get(task, "array_first") != NULL &&
               doc_u64(doc_get(task, "array_first"), &first) && first > 0 &&
               doc_u64(doc_get(task, "instances"), &count)) {
        const char *range = arena_fmt(arena, "%" PRIu64 "-%" PRIu64, first, first + count - 1);
        doc_make_drop(map, "instances");
        doc_make_add(map, "array", doc_make_scalar(arena, DOC_STRING, str_of(range)));
    }
    doc_make_drop(map, "pool"); /* `pools` says more */
}

const struct doc *object_again_task_map(const struct doc *task, struct arena *arena)
{
    const struct doc *spec = object_again_map(task, "spec");
    if (spec != NULL) {
        return spec;
    }
    struct doc *map = object_again_fields(task_file_fields, task, arena);
    instances_settle(map, task, arena);
    return map;
}

enum err object_again_task(const struct doc *task, struct arena *arena, struct task_spec *ret,
                           struct error *e)
{
    return task_file_spec_read(object_again_task_map(task, arena), arena, ret, e);
}
