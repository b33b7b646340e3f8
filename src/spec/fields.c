/* fields.c - the table-driven reader of maps, and readers of the kinds of values that fields
 * have.
 * SPDX-License-Identifier: Apache-2.0 */
#include "spec/fields.h"

#include "base/amount.h"
#include "base/must.h"
#include "base/name.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { PLACE_DEPTH_MAX = 16, WORD_MAX = 40, NEAR_MAX = 2, SHOWN_MAX = 60 };

/* Writes a place as text: "[3].command[0]". The text is cut at the longest path that an error
 * can hold. */
static const char *path_of(struct reader *in, const struct doc_place *place)
{
    const struct doc_place *chain[PLACE_DEPTH_MAX];
    size_t depth = 0;
    for (; place != NULL; place = place->up) {
        must(depth < PLACE_DEPTH_MAX);
        chain[depth++] = place;
    }
    char path[ERROR_PATH_MAX];
    size_t used = 0;
    path[0] = '\0';
    while (depth > 0 && used < sizeof path) {
        const struct doc_place *at = chain[--depth];
        int len = at->key == NULL ? snprintf(path + used, sizeof path - used, "[%u]", at->index)
                                  : snprintf(path + used, sizeof path - used, "%s%s",
                                             used > 0 ? "." : "", at->key);
        must(len >= 0);
        used += (size_t)len;
    }
    return arena_str(in->arena, path);
}

void fields_problem(struct reader *in, const struct doc_place *place, const struct doc *doc,
                    const char *format, ...)
{
    struct problems *problems = in->problems;
    problems->total++;
    if (problems->count == PROBLEMS_MAX) {
        return;
    }
    char text[ERROR_TEXT_MAX];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(text, sizeof text, format, args);
    va_end(args);
    problems->at[problems->count++] = (struct problem){
        .line = doc != NULL ? doc->line : 0,
        .column = doc != NULL ? doc->column : 0,
        .path = path_of(in, place),
        .text = arena_str(in->arena, text),
    };
}

static unsigned min3(unsigned a, unsigned b, unsigned c)
{
    unsigned low = a < b ? a : b;
    return low < c ? low : c;
}

/* Counts the letters that must be added, dropped or changed to turn one word into the other.
 * Words longer than WORD_MAX count as far apart. */
static unsigned distance(struct str a, struct str b)
{
    if (a.len > WORD_MAX || b.len > WORD_MAX) {
        return WORD_MAX;
    }
    unsigned row[WORD_MAX + 1];
    for (unsigned i = 0; i <= b.len; i++) {
        row[i] = i;
    }
    for (unsigned i = 0; i < a.len; i++) {
        unsigned corner = row[0];
        row[0] = i + 1;
        for (unsigned k = 0; k < b.len; k++) {
            unsigned above = row[k + 1];
            row[k + 1] = min3(above + 1, row[k] + 1, corner + (a.p[i] != b.p[k]));
            corner = above;
        }
    }
    return row[b.len];
}

/* A name is near enough when it differs by at most two letters and by fewer than half of its
 * letters. */
static bool nearer(struct str word, const char *name, unsigned *best)
{
    unsigned far = distance(word, str_of(name));
    if (far >= *best || far * 2 > word.len) {
        return false;
    }
    *best = far;
    return true;
}

const char *fields_nearest(struct str word, const char *const *names)
{
    const char *found = NULL;
    unsigned best = NEAR_MAX + 1;
    for (; *names != NULL; names++) {
        if (nearer(word, *names, &best)) {
            found = *names;
        }
    }
    return found;
}

static void unknown_field(struct reader *in, const struct doc_place *place, const struct doc *doc,
                          const struct field *fields)
{
    const char *found = NULL;
    unsigned best = NEAR_MAX + 1;
    for (; fields->name != NULL; fields++) {
        if (fields->read != NULL && nearer(doc->key, fields->name, &best)) {
            found = fields->name;
        }
    }
    if (found != NULL) {
        fields_problem(in, place, doc, "unknown field; did you mean '%s'?", found);
    } else {
        fields_problem(in, place, doc, "unknown field");
    }
}

/* Keys of a document are NUL-terminated and have no NUL inside, so strcmp() is safe. */
static const struct field *field_find(const struct field *fields, struct str name)
{
    for (; fields->name != NULL; fields++) {
        if (fields->name[0] == name.p[0] && strcmp(fields->name, name.p) == 0) {
            return fields;
        }
    }
    return NULL;
}

const struct field *fields_find(struct reader *in, const struct doc_place *place,
                                const struct doc *doc, const struct field *fields)
{
    const struct field *field = field_find(fields, doc->key);
    if (field == NULL) {
        unknown_field(in, place, doc, fields);
    }
    return field;
}

void fields_read(struct reader *in, const struct doc_place *place, const struct doc *map,
                 const struct field *fields, void *object)
{
    if (map->kind != DOC_MAP) {
        fields_problem(in, place, map, "a map of fields is wanted, not %s", fields_what(map));
        return;
    }
    for (const struct doc *doc = map->first; doc != NULL; doc = doc->next) {
        struct doc_place at = {.up = place, .key = doc->key.p};
        const struct field *field = fields_find(in, &at, doc, fields);
        if (field == NULL) {
            continue;
        }
        if (field->read == NULL) {
            fields_problem(in, &at, doc, "%s", field->note);
        } else if (doc->kind != DOC_NULL) {
            field->read(in, &at, doc, field, object);
        }
    }
}

const char *fields_what(const struct doc *doc)
{
    switch (doc->kind) {
    case DOC_NULL:
        return "nothing";
    case DOC_BOOL:
        return doc->yes ? "true" : "false";
    case DOC_NUMBER:
        return "a number";
    case DOC_STRING:
        return "a text";
    case DOC_LIST:
        return "a list";
    case DOC_MAP:
        return "a map";
    }
    return "something else";
}

static bool has_control(struct str text)
{
    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.p[i];
        if (c < 0x20 || c == 0x7f) {
            return true;
        }
    }
    return false;
}

bool fields_value_text(struct reader *in, const struct doc_place *place, const struct doc *doc,
                       size_t len_max, const char **ret)
{
    if (doc->kind != DOC_STRING) {
        fields_problem(in, place, doc, "a text is wanted, not %s%s", fields_what(doc),
                       doc->kind == DOC_NUMBER || doc->kind == DOC_BOOL ? "; put it in quotes"
                                                                        : "");
        return false;
    }
    if (doc->text.len > len_max) {
        fields_problem(in, place, doc, "a text of %zu bytes; at most %zu are allowed",
                       doc->text.len, len_max);
        return false;
    }
    in->text_bytes += doc->text.len + 1;
    *ret = doc->text.p;
    return true;
}

bool fields_value_name(struct reader *in, const struct doc_place *place, const struct doc *doc,
                       const char *what, const char **ret)
{
    const char *text;
    struct error e;
    if (!fields_value_text(in, place, doc, SIZE_MAX, &text)) {
        return false;
    }
    if (name_check(doc->text, what, &e) != ERR_OK) {
        fields_problem(in, place, doc, "%s", e.text);
        return false;
    }
    *ret = text;
    return true;
}

bool fields_value_u64(struct reader *in, const struct doc_place *place, const struct doc *doc,
                      uint64_t min, uint64_t max, uint64_t *ret)
{
    uint64_t value;
    if (doc_u64(doc, &value) && value >= min && value <= max) {
        *ret = value;
        return true;
    }
    bool shown = doc->kind == DOC_NUMBER || doc->kind == DOC_STRING;
    fields_problem(in, place, doc,
                   "a whole number from %" PRIu64 " to %" PRIu64 " is wanted, not %s%.*s%s", min,
                   max, doc->quoted ? "the text '" : "",
                   shown ? (int)(doc->text.len < SHOWN_MAX ? doc->text.len : SHOWN_MAX) : 0,
                   shown ? doc->text.p : "",
                   doc->quoted ? "'"
                   : shown     ? ""
                               : fields_what(doc));
    return false;
}

bool fields_value_duration(struct reader *in, const struct doc_place *place, const struct doc *doc,
                           int64_t *ret_ms)
{
    struct error e;
    if (doc->kind != DOC_STRING && doc->kind != DOC_NUMBER) {
        fields_problem(in, place, doc,
                       "a duration like 2h or a number of seconds is wanted, not %s",
                       fields_what(doc));
        return false;
    }
    if (amount_duration(doc->text, ret_ms, &e) != ERR_OK) {
        fields_problem(in, place, doc, "%s", e.text);
        return false;
    }
    return true;
}

/* Returns the address of the field's value in the object. */
static void *target(const struct field *field, void *object)
{
    return (char *)object + field->offset;
}

void fields_text(struct reader *in, const struct doc_place *place, const struct doc *doc,
                 const struct field *field, void *object)
{
    const char *text;
    if (!fields_value_text(in, place, doc, (size_t)field->max, &text)) {
        return;
    }
    if ((int64_t)doc->text.len < field->min) {
        fields_problem(in, place, doc, "it is empty");
    } else if (has_control(doc->text)) {
        fields_problem(in, place, doc,
                       "control characters (line breaks too) are not possible here");
    } else {
        *(const char **)target(field, object) = text;
    }
}

void fields_name(struct reader *in, const struct doc_place *place, const struct doc *doc,
                 const struct field *field, void *object)
{
    (void)fields_value_name(in, place, doc, field->note, target(field, object));
}

void fields_u32(struct reader *in, const struct doc_place *place, const struct doc *doc,
                const struct field *field, void *object)
{
    uint64_t value;
    must(field->max <= UINT32_MAX);
    if (fields_value_u64(in, place, doc, (uint64_t)field->min, (uint64_t)field->max, &value)) {
        *(uint32_t *)target(field, object) = (uint32_t)value;
    }
}

void fields_bool(struct reader *in, const struct doc_place *place, const struct doc *doc,
                 const struct field *field, void *object)
{
    if (!doc_bool(doc, target(field, object))) {
        fields_problem(in, place, doc, "true or false is wanted, not %s", fields_what(doc));
    }
}

void fields_duration(struct reader *in, const struct doc_place *place, const struct doc *doc,
                     const struct field *field, void *object)
{
    (void)fields_value_duration(in, place, doc, target(field, object));
}
