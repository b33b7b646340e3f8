/* record_json.h - structs to and from JSON objects, by the tables of their fields
 * (core/model/record.h).
 *
 * The text comes from the other side and is hostile. Each value is held to the bounds of its
 * row, unknown fields are ignored, and the first failure is remembered, so that a caller asks
 * for the failure once, at the end.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/arena.h"
#include "base/doc.h"
#include "base/fail.h"
#include "base/json_out.h"
#include "core/model/record.h"

/* The state of one reading. */
struct record_json {
    struct arena *arena;
    struct error *error;
    bool bad;
};

/* A form that replaces the usual one of the field's type. NULL for `put` or `get`: as usual.
 * `put` writes the name of the field too. */
struct record_json_form {
    void (*put)(struct json_out *j, const struct record_field *field, const void *object);
    /* `value` is NULL when the field is missing and not required. */
    void (*get)(struct record_json *in, const struct record_field *field, const struct doc *value,
                void *object);
};

/* A row of a table. The arguments behind the bounds set further members of struct record_field. */
#define RECORD_JSON_ROW(object, member, json_name, kind, least, most, ...)                         \
    {                                                                                              \
        .name = (json_name), .type = RECORD_##kind, RECORD_AT(struct object, member),              \
        .low = (least), .high = (most), __VA_ARGS__                                                \
    }
#define RECORD_JSON_COUNT(object, member) .count_offset = offsetof(struct object, member)
/* clang-format off */
#define RECORD_JSON_FORM(...) &(const struct record_json_form){__VA_ARGS__}
#define RECORD_JSON_TABLE(object, ...)                                                             \
    {.fields = (const struct record_field[]){__VA_ARGS__},                                         \
     .count = sizeof((const struct record_field[]){__VA_ARGS__}) / sizeof(struct record_field),    \
     .size = sizeof(struct object)}
/* clang-format on */

/* Writes the fields in the order of the table, into an object that the caller begins and ends. */
void record_json_put(struct json_out *j, const struct record_table *table, const void *object);

void record_json_put_field(struct json_out *j, const struct record_field *field,
                           const void *object);

/* Reads the fields out of a map and stops at the first failure. NULL stands for an empty map. */
void record_json_get(struct record_json *in, const struct record_table *table,
                     const struct doc *map, void *object);

/* Parses one JSON object into `*ret` and begins a reading. */
must_use enum err record_json_parse(struct record_json *in, struct str text, struct arena *arena,
                                    const struct doc **ret, struct error *e);

/* Encode and decode a whole message. A failed decode leaves `*ret` as it was; decoded texts live
 * in the arena. */
void record_json_encode(const struct record_table *table, const void *object, struct buf *out);
must_use enum err record_json_decode(const struct record_table *table, struct str text,
                                     struct arena *arena, void *ret, struct error *e);

/* Notes that the value of `key` is wrong. `wanted` says what a right value is. */
void record_json_bad(struct record_json *in, const char *key, const char *wanted);

/* Reads the value by the type of the field and ignores the field's form. RECORD_TIME is written
 * only. */
void record_json_value(struct record_json *in, const struct record_field *field,
                       const struct doc *value, void *object);

/* Returns the value as a list of at most `max` items; NULL: the list is missing or empty. */
const struct doc *record_json_list(struct record_json *in, const struct record_field *field,
                                   const struct doc *value, int64_t max);

extern const struct record_json_form record_json_unread;    /* written only */
extern const struct record_json_form record_json_unwritten; /* read only */
/* RECORD_TEXT that passes name_check(). */
extern const struct record_json_form record_json_name;
extern const struct record_json_form record_json_not; /* RECORD_BOOL: JSON says the opposite */
