/* fields.c - the table-driven reader of maps, and readers of the kinds of values that fields
 * have.
 * SPDX-License-Identifier: Apache-2.0 */
#include "spec/fields.h"

#include "base/amount.h"
#include "base/must.h"
#include "base/name.h"
#include "base/suggest.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { PLACE_DEPTH_MAX = 16, SHOWN_MAX = 60 };

/* Writes the place of a value as text: "[3].command[0]". The text is cut at the longest path that
 * an error can hold. */
static const char *path_of(const struct doc_value *v)
{
    const struct doc_value *chain[PLACE_DEPTH_MAX];
    size_t depth = 0;
    struct arena *arena = v->in->arena;
    for (; v->up != NULL; v = v->up) {
        must(depth < PLACE_DEPTH_MAX);
        chain[depth++] = v;
    }
    char path[ERROR_PATH_MAX];
    size_t used = 0;
    path[0] = '\0';
    while (depth > 0 && used < sizeof path) {
        const struct doc_value *at = chain[--depth];
        int len = at->key == NULL ? snprintf(path + used, sizeof path - used, "[%u]", at->index)
                                  : snprintf(path + used, sizeof path - used, "%s%s",
                                             used > 0 ? "." : "", at->key);
        must(len >= 0);
        used += (size_t)len;
    }
    return arena_str(arena, path);
}

__attribute__((format(printf, 3, 0))) static void problem_add(const struct doc_value *v, bool key,
                                                              const char *format, va_list args)
{
    struct problems *problems = v->in->problems;
    problems->total++;
    if (problems->count == PROBLEMS_MAX) {
        return;
    }
    char text[ERROR_TEXT_MAX];
    (void)vsnprintf(text, sizeof text, format, args);
    problems->at[problems->count++] = (struct problem){
        .line = key ? v->doc->key_line : v->doc->line,
        .column = key ? v->doc->key_column : v->doc->column,
        .path = path_of(v),
        .text = arena_str(v->in->arena, text),
    };
}

void fields_problem(const struct doc_value *v, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    problem_add(v, false, format, args);
    va_end(args);
}

void fields_problem_key(const struct doc_value *v, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    problem_add(v, v->doc->key_line > 0, format, args);
    va_end(args);
}

void fields_problem_in(const struct doc_value *map, const char *key, const char *format, ...)
{
    struct doc_value v = fields_child(map, key);
    v.doc = v.doc != NULL ? v.doc : map->doc;
    va_list args;
    va_start(args, format);
    problem_add(&v, false, format, args);
    va_end(args);
}

void fields_wanted(const struct doc_value *v, const char *wanted)
{
    fields_problem(v, "%s is wanted, not %s", wanted, fields_what(v->doc));
}

bool fields_ok(const struct doc_value *v, enum err r, const struct error *e)
{
    if (r != ERR_OK) {
        fields_problem(v, "%s", e->text);
    }
    return r == ERR_OK;
}

bool fields_key_ok(const struct doc_value *v, enum err r, const struct error *e)
{
    if (r != ERR_OK) {
        fields_problem_key(v, "%s", e->text);
    }
    return r == ERR_OK;
}

static void fields_offer(struct suggest *suggest, const struct field *fields)
{
    for (; fields->name != NULL; fields++) {
        if (fields->read != NULL) {
            suggest_offer(suggest, fields->name);
        }
    }
}

static void unknown_field(const struct doc_value *v, const struct field *fields)
{
    struct suggest suggest;
    suggest_init(&suggest, v->doc->key);
    fields_offer(&suggest, fields);
    if (v->in->also != NULL) {
        fields_offer(&suggest, v->in->also);
    }
    if (suggest.best != NULL) {
        fields_problem_key(v, "unknown field; did you mean '%s'?", suggest.best);
    } else {
        fields_problem_key(v, "unknown field");
    }
}

/* Keys of a document are NUL-terminated and have no NUL inside, so strcmp() is safe. */
const struct field *fields_find(const struct doc_value *v, const struct field *fields)
{
    const char *key = v->doc->key.p;
    for (const struct field *field = fields; field->name != NULL; field++) {
        if (field->name[0] == key[0] && strcmp(field->name, key) == 0) {
            return field;
        }
    }
    unknown_field(v, fields);
    return NULL;
}

bool fields_read(const struct doc_value *map, const struct field *fields, void *object)
{
    const uint32_t before = map->in->problems->total;
    if (map->doc->kind != DOC_MAP) {
        fields_wanted(map, "a map of fields");
        return false;
    }
    for (struct doc_value v = fields_first(map); v.doc != NULL; fields_next(&v)) {
        v.field = fields_find(&v, fields);
        if (v.field != NULL && v.field->read == NULL) {
            fields_problem_key(&v, "%s", v.field->note);
        } else if (v.field != NULL && v.doc->kind != DOC_NULL) {
            v.field->read(&v, object);
        }
    }
    return map->in->problems->total == before;
}

enum err fields_document(const struct doc *doc, struct arena *arena, field_fn read, void *object,
                         size_t size, struct error *e)
{
    struct problems problems = {0};
    struct reader in = {.arena = arena, .problems = &problems};
    void *draft = arena_dup(arena, object, size);
    read(&(struct doc_value){.in = &in, .doc = doc}, draft);
    enum err r = problem_error(&problems, e);
    if (r == ERR_OK) {
        memcpy(object, draft, size);
    }
    return r;
}

const struct doc *fields_given(const struct doc_value *map, const char *key)
{
    const struct doc *doc = doc_get(map->doc, key);
    return doc != NULL && doc->kind != DOC_NULL ? doc : NULL;
}

struct doc_value fields_child(const struct doc_value *map, const char *key)
{
    return (struct doc_value){.in = map->in, .doc = fields_given(map, key), .up = map, .key = key};
}

struct doc_value fields_first(const struct doc_value *v)
{
    const struct doc *first = v->doc != NULL ? v->doc->first : NULL;
    return (struct doc_value){
        .in = v->in, .doc = first, .up = v, .key = first != NULL ? first->key.p : NULL};
}

void fields_next(struct doc_value *item)
{
    item->doc = item->doc->next;
    item->key = item->doc != NULL ? item->doc->key.p : NULL;
    item->index++;
}

bool fields_bounded(const struct doc_value *v, enum doc_kind kind, int64_t most, const char *what,
                    const char *hint)
{
    const bool list = kind == DOC_LIST;
    if (v->doc->kind == kind && v->doc->count <= most) {
        return true;
    }
    fields_problem(v, "a %s of at most %d %s is wanted%s, not %s", list ? "list" : "map", (int)most,
                   what, hint,
                   v->doc->kind != kind ? fields_what(v->doc)
                   : list               ? "a longer one"
                                        : "a larger one");
    return false;
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

bool fields_value_text(const struct doc_value *v, size_t len_max, const char **ret)
{
    const struct doc *doc = v->doc;
    if (doc->kind != DOC_STRING) {
        fields_problem(v, "a text is wanted, not %s%s", fields_what(doc),
                       doc->kind == DOC_NUMBER || doc->kind == DOC_BOOL ? "; put it in quotes"
                                                                        : "");
        return false;
    }
    if (doc->text.len > len_max) {
        fields_problem(v, "a text of %zu bytes; at most %zu are allowed", doc->text.len, len_max);
        return false;
    }
    v->in->text_bytes += doc->text.len + 1;
    *ret = doc->text.p;
    return true;
}

bool fields_value_name(const struct doc_value *v, const char *what, const char **ret)
{
    const char *text;
    struct error e;
    if (!fields_value_text(v, SIZE_MAX, &text) ||
        !fields_ok(v, name_check(v->doc->text, what, &e), &e)) {
        return false;
    }
    *ret = text;
    return true;
}

bool fields_value_u64(const struct doc_value *v, uint64_t min, uint64_t max, uint64_t *ret)
{
    const struct doc *doc = v->doc;
    uint64_t value;
    if (doc_u64(doc, &value) && value >= min && value <= max) {
        *ret = value;
        return true;
    }
    bool shown = doc->kind == DOC_NUMBER || doc->kind == DOC_STRING;
    fields_problem(v, "a whole number from %" PRIu64 " to %" PRIu64 " is wanted, not %s%.*s%s", min,
                   max, doc->quoted ? "the text '" : "",
                   shown ? (int)(doc->text.len < SHOWN_MAX ? doc->text.len : SHOWN_MAX) : 0,
                   shown ? doc->text.p : "",
                   doc->quoted ? "'"
                   : shown     ? ""
                               : fields_what(doc));
    return false;
}

bool fields_value_u32(const struct doc_value *v, uint32_t min, uint32_t max, uint32_t *ret)
{
    uint64_t value;
    if (!fields_value_u64(v, min, max, &value)) {
        return false;
    }
    *ret = (uint32_t)value;
    return true;
}

bool fields_value_bool(const struct doc_value *v, bool *ret)
{
    const bool known = doc_bool(v->doc, ret);
    if (!known) {
        fields_wanted(v, "true or false");
    }
    return known;
}

bool fields_value_amount(const struct doc_value *v, amount_fn parse, const char *wanted,
                         int64_t *ret)
{
    struct error e;
    if (v->doc->kind != DOC_STRING && v->doc->kind != DOC_NUMBER) {
        fields_wanted(v, wanted);
        return false;
    }
    return fields_ok(v, parse(v->doc->text, ret, &e), &e);
}

bool fields_value_duration(const struct doc_value *v, int64_t *ret_ms)
{
    return fields_value_amount(v, amount_duration, "a duration like 2h or a number of seconds",
                               ret_ms);
}

/* Returns the address of the field's value in the object. */
static void *target(const struct doc_value *v, void *object)
{
    return (char *)object + v->field->offset;
}

void fields_text(const struct doc_value *v, void *object)
{
    const char *text;
    if (!fields_value_text(v, (size_t)v->field->max, &text)) {
        return;
    }
    if ((int64_t)v->doc->text.len < v->field->min) {
        fields_problem(v, "it is empty");
    } else if (has_control(v->doc->text)) {
        fields_problem(v, "control characters (line breaks too) are not possible here");
    } else {
        *(const char **)target(v, object) = text;
    }
}

void fields_lines(const struct doc_value *v, void *object)
{
    const char *text;
    if (!fields_value_text(v, (size_t)v->field->max, &text)) {
        return;
    }
    for (size_t i = 0; i < v->doc->text.len; i++) {
        const struct str one = {text + i, 1};
        if (text[i] != '\n' && text[i] != '\t' && has_control(one)) {
            fields_problem(
                v, "control characters are not possible here, but for line breaks and tabs");
            return;
        }
    }
    *(const char **)target(v, object) = text;
}

void fields_name(const struct doc_value *v, void *object)
{
    (void)fields_value_name(v, v->field->note, target(v, object));
}

void fields_u32(const struct doc_value *v, void *object)
{
    must(v->field->max <= UINT32_MAX);
    (void)fields_value_u32(v, (uint32_t)v->field->min, (uint32_t)v->field->max, target(v, object));
}

void fields_bool(const struct doc_value *v, void *object)
{
    (void)fields_value_bool(v, target(v, object));
}

void fields_duration(const struct doc_value *v, void *object)
{
    (void)fields_value_duration(v, target(v, object));
}

void fields_inner(const struct doc_value *v, void *object)
{
    (void)fields_read(v, v->field->inner, target(v, object));
}

void fields_skip(const struct doc_value *v, void *object)
{
    (void)v;
    (void)object;
}
