/* fields.h - reading a map by a table of its fields.
 *
 * The function of a field gets a value with its place, and the object that the value belongs to.
 * Such a function returns no error. A bad value is noted as a problem and the object stays as it
 * was, so that reading goes on.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/model/object.h"
#include "spec/problem.h"

#include <stddef.h>

struct reader {
    struct arena *arena;
    struct problems *problems;
    bool partial;             /* fields may be missing, so only single fields are checked */
    const struct field *also; /* further names that an unknown name may be meant for; NULL: none */
    size_t text_bytes;        /* bytes of all texts read so far, for limits on the whole document */
};

/* A value and its place in the document. The places are a chain up the call stack. The chain
 * becomes a path only when there is a problem. */
struct doc_value {
    struct reader *in;
    const struct doc *doc;      /* has line and column for problems */
    const struct doc_value *up; /* NULL: the value is the document itself */
    const char *key;            /* NULL: the value is an item of a list */
    uint32_t index;
    const struct field *field; /* the row of the table that reads the value */
};

typedef void (*field_fn)(const struct doc_value *v, void *object);

struct field {
    const char *name;
    field_fn read; /* NULL: a known name that cannot be given; `note` says why */
    size_t offset; /* of the target in the object */
    int64_t min;   /* of a number the least, of a text the shortest length */
    int64_t max;   /* of a number the most, of a text the longest length */
    const char *note;
    const struct object_field *row; /* for object_read_field() */
    const struct field *inner;      /* for fields_inner() */
};

/* Rows of a table: a whole number of uint32_t within its bounds, and the name of a thing. */
#define FIELDS_COUNT(key, object, member, least, most)                                             \
    {                                                                                              \
        .name = (key), .read = fields_u32, .offset = offsetof(object, member), .min = (least),     \
        .max = (most)                                                                              \
    }
#define FIELDS_NAME(key, object, member, thing)                                                    \
    {                                                                                              \
        .name = (key), .read = fields_name, .offset = offsetof(object, member), .note = (thing)    \
    }

/* ---- problems ---- */

void fields_problem(const struct doc_value *v, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Notes a problem with the value's key, at the place of the key. */
void fields_problem_key(const struct doc_value *v, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Notes a problem with a field of the map. A field that is not given has the map's line and
 * column. */
void fields_problem_in(const struct doc_value *map, const char *key, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Notes "… is wanted, not a list". */
void fields_wanted(const struct doc_value *v, const char *wanted);

/* Notes the error of a check of the value, or of its key; true: there is none. */
bool fields_ok(const struct doc_value *v, enum err r, const struct error *e);
bool fields_key_ok(const struct doc_value *v, enum err r, const struct error *e);

/* Says what kind of value this is, for messages: "a list", "a number". */
const char *fields_what(const struct doc *doc);

/* ---- maps and lists ---- */

/* Reads every value of the map by its field; false: a problem was noted. An unknown name is a
 * problem, and the message names the nearest known name. A null value counts as not given. */
bool fields_read(const struct doc_value *map, const struct field *fields, void *object);

/* Finds the field that a value's key names. NULL: a problem was noted that names the nearest
 * known field. */
const struct field *fields_find(const struct doc_value *v, const struct field *fields);

/* Reads a whole document into an object of `size` bytes. The object changes only if no problem was
 * noted. */
must_use enum err fields_document(const struct doc *doc, struct arena *arena, field_fn read,
                                  void *object, size_t size, struct error *e);

/* Returns a field of the map. `doc` is NULL if the field is not given. */
struct doc_value fields_child(const struct doc_value *map, const char *key);
const struct doc *fields_given(const struct doc_value *map, const char *key); /* only the `doc` */

/* Walk the values of a list or a map. Behind the last value `doc` is NULL. */
struct doc_value fields_first(const struct doc_value *v);
void fields_next(struct doc_value *item);

/* True for a list or a map (`kind`) of at most `most` values, else notes a problem: "a list of at
 * most 8 names is wanted, like [a], not a map". `hint` is ", like [a]" or empty. */
bool fields_bounded(const struct doc_value *v, enum doc_kind kind, int64_t most, const char *what,
                    const char *hint);

/* ---- readers of common kinds of fields; the name of a reader says the type of its target ---- */

void fields_text(const struct doc_value *v, void *object); /* const char *; no control characters */
void fields_lines(const struct doc_value *v,
                  void *object); /* const char *; may have line breaks and tabs */
/* const char *; `note` says what is named: "a pool" */
void fields_name(const struct doc_value *v, void *object);
void fields_u32(const struct doc_value *v, void *object);
void fields_bool(const struct doc_value *v, void *object);
void fields_duration(const struct doc_value *v, void *object); /* int64_t milliseconds */
void fields_inner(const struct doc_value *v, void *object);    /* a map, by the table `inner` */
/* Reads nothing: another function reads the value. */
void fields_skip(const struct doc_value *v, void *object);

/* ---- single values; false: a problem was noted ---- */

bool fields_value_text(const struct doc_value *v, size_t len_max, const char **ret);
bool fields_value_name(const struct doc_value *v, const char *what, const char **ret);
bool fields_value_u64(const struct doc_value *v, uint64_t min, uint64_t max, uint64_t *ret);
bool fields_value_u32(const struct doc_value *v, uint32_t min, uint32_t max, uint32_t *ret);
bool fields_value_bool(const struct doc_value *v, bool *ret);
bool fields_value_duration(const struct doc_value *v, int64_t *ret_ms);

/* Reads an amount with a function of base/amount.h. `wanted` is for the message about a value
 * that is neither number nor text. */
typedef enum err (*amount_fn)(struct str text, int64_t *ret, struct error *e);
bool fields_value_amount(const struct doc_value *v, amount_fn parse, const char *wanted,
                         int64_t *ret);
