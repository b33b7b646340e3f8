/* det_resolve.c - see det_resolve.h. SPDX-License-Identifier: Apache-2.0 */
#include "compat/determined/det_resolve.h"

#include "base/must.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { TEXT_BYTES_MAX = 65536 };

#define NS_PER_S INT64_C(1000000000)
#define TIME_NS_MAX (INT64_MAX / 10)

struct doc *det_resolve_empty(struct arena *arena, enum doc_kind kind)
{
    struct doc *doc = arena_new(arena, struct doc, 1);
    *doc = (struct doc){.kind = kind};
    return doc;
}

void det_resolve_put(struct arena *arena, struct doc *into, const char *key,
                     const struct doc *value)
{
    struct doc *copy = arena_new(arena, struct doc, 1);
    struct doc **at = &into->first;
    must(into->kind == DOC_MAP || into->kind == DOC_LIST);
    *copy = *value;
    copy->key = key == NULL ? (struct str){0} : (struct str){.p = key, .len = strlen(key)};
    while (*at != NULL && (key == NULL || strcmp((*at)->key.p, key) != 0)) {
        at = &(*at)->next;
    }
    copy->next = *at == NULL ? NULL : (*at)->next;
    into->count += *at == NULL ? 1 : 0;
    *at = copy;
}

static void put_scalar(struct arena *arena, struct doc *into, const char *key, enum doc_kind kind,
                       const char *text)
{
    const char *kept = arena_str(arena, text);
    const struct doc value = {.kind = kind,
                              .quoted = kind == DOC_STRING,
                              .yes = strcmp(text, "true") == 0,
                              .text = {.p = kept, .len = strlen(kept)}};
    det_resolve_put(arena, into, key, &value);
}

void det_resolve_put_text(struct arena *arena, struct doc *into, const char *key, const char *text)
{
    put_scalar(arena, into, key, DOC_STRING, text);
}

/* ---- times ---- */

/* The nanoseconds of one unit at `*at`, and steps behind it; 0: there is no unit. */
static int64_t unit_ns(const char **at)
{
    static const struct {
        const char *name;
        int64_t ns;
    } units[] = {
        {"ns", 1},      {"us", 1000}, {"ms", 1000000}, {"h", 3600 * NS_PER_S}, {"m", 60 * NS_PER_S},
        {"s", NS_PER_S}};
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        const size_t len = strlen(units[i].name);
        if (strncmp(*at, units[i].name, len) == 0) {
            *at += len;
            return units[i].ns;
        }
    }
    return 0;
}

/* One part like "1.5h" of a time, added to `*ns`. */
static bool part_read(const char **at, int64_t *ns)
{
    int64_t number = 0;
    int64_t scale = 1;
    bool point = false;
    const char *begin = *at;
    for (; (**at >= '0' && **at <= '9') || (**at == '.' && !point); (*at)++) {
        if (**at == '.') {
            point = true;
        } else if (number > INT64_C(1000000000) || scale > INT64_C(1000000000)) {
            return false;
        } else {
            number = number * 10 + (**at - '0');
            scale *= point ? 10 : 1;
        }
    }
    const size_t digits = (size_t)(*at - begin) - (point ? 1 : 0);
    const int64_t unit = digits == 0 ? 0 : unit_ns(at);
    int64_t product = 0;
    if (unit == 0 || __builtin_mul_overflow(number, unit, &product) ||
        product / scale > TIME_NS_MAX - *ns) {
        return false;
    }
    *ns += product / scale;
    return true;
}

/* Reads a time as Go writes it: "-1m30s", "250ms", "0". */
static bool time_read(const char *text, int64_t *ret_ns)
{
    const bool minus = text[0] == '-';
    const char *at = text + (minus || text[0] == '+' ? 1 : 0);
    int64_t ns = 0;
    bool good = at[0] != '\0';
    if (strcmp(at, "0") == 0) {
        at++;
    }
    while (good && *at != '\0') {
        good = part_read(&at, &ns);
    }
    *ret_ns = minus ? -ns : ns;
    return good;
}

static void put_time(struct arena *arena, struct doc *into, const char *name, int64_t ns)
{
    char text[48];
    const int64_t part = ns < 0 ? -(ns % NS_PER_S) : ns % NS_PER_S;
    int len = snprintf(text, sizeof text, "%s%" PRId64 ".%09" PRId64, ns < 0 ? "-" : "",
                       (ns < 0 ? -ns : ns) / NS_PER_S, part);
    must(len > 0 && (size_t)len < sizeof text);
    while (text[len - 1] == '0') {
        text[--len] = '\0';
    }
    if (text[len - 1] == '.') {
        text[len - 1] = '\0';
    }
    put_scalar(arena, into, arena_fmt(arena, "%s_s", name), DOC_NUMBER, text);
}

void det_resolve_time(const struct doc_value *v, void *map)
{
    const char *text = NULL;
    int64_t ns = 0;
    if (!doc_text(v->doc, &text) || !time_read(text, &ns)) {
        fields_wanted(v, "a time like 1m30s");
        return;
    }
    put_time(v->in->arena, map, v->field->name, ns);
}

/* ---- other values ---- */

void det_resolve_text(const struct doc_value *v, void *map)
{
    const char *text = NULL;
    if (!doc_text(v->doc, &text) || v->doc->text.len > TEXT_BYTES_MAX) {
        fields_wanted(v, "a text");
        return;
    }
    det_resolve_put_text(v->in->arena, map, v->field->name, text);
}

void det_resolve_whole(const struct doc_value *v, void *map)
{
    int64_t number = 0;
    if (!doc_i64(v->doc, &number)) {
        fields_wanted(v, "a whole number");
        return;
    }
    put_scalar(v->in->arena, map, v->field->name, DOC_NUMBER,
               arena_fmt(v->in->arena, "%" PRId64, number));
}

void det_resolve_switch(const struct doc_value *v, void *map)
{
    bool yes = false;
    if (fields_value_bool(v, &yes)) {
        put_scalar(v->in->arena, map, v->field->name, DOC_BOOL, yes ? "true" : "false");
    }
}

void det_resolve_any(const struct doc_value *v, void *map)
{
    det_resolve_put(v->in->arena, map, v->field->name, v->doc);
}

void det_resolve_inner(const struct doc_value *v, void *map)
{
    if (v->doc->kind != DOC_MAP) {
        fields_wanted(v, "a map");
        return;
    }
    det_resolve_put(v->in->arena, map, v->field->name, det_resolve_map(v, v->field->inner));
}

/* ---- maps ---- */

static void put_default(const struct doc_value *map, const struct field *field, struct doc *into)
{
    struct arena *arena = map->in->arena;
    int64_t ns = 0;
    if (field->read == det_resolve_inner) {
        const struct doc none = {.kind = DOC_MAP};
        const struct doc_value empty = {
            .in = map->in, .doc = &none, .up = map, .key = field->name, .field = field};
        det_resolve_inner(&empty, into);
    } else if (field->read == det_resolve_time) {
        must(time_read(field->note, &ns));
        put_time(arena, into, field->name, ns);
    } else {
        put_scalar(arena, into, field->name,
                   field->read == det_resolve_whole    ? DOC_NUMBER
                   : field->read == det_resolve_switch ? DOC_BOOL
                                                       : DOC_STRING,
                   field->note);
    }
}

struct doc *det_resolve_map(const struct doc_value *map, const struct field *fields)
{
    struct doc *into = det_resolve_empty(map->in->arena, DOC_MAP);
    (void)fields_read(map, fields, into); /* what is wrong has been noted */
    for (const struct field *field = fields; field->name != NULL; field++) {
        const struct doc *given = fields_given(map, field->name);
        if (field->note != NULL && (given == NULL || given->kind == DOC_NULL)) {
            put_default(map, field, into);
        }
    }
    return into;
}

const char *det_resolve_get_text(const struct doc *map, const char *key)
{
    const char *text = "";
    (void)doc_text(doc_get(map, key), &text);
    return text;
}

int64_t det_resolve_get_whole(const struct doc *map, const char *key)
{
    int64_t number = 0;
    (void)doc_i64(doc_get(map, key), &number);
    return number;
}

bool det_resolve_get_switch(const struct doc *map, const char *key)
{
    bool yes = false;
    (void)doc_bool(doc_get(map, key), &yes);
    return yes;
}
