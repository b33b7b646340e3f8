/* fields.h - reading a map by a table of its fields.
 *
 * The function of a field gets the value and the address where the value belongs. Such a
 * function returns no error. A bad value is noted as a problem and the object stays as it was,
 * so that reading goes on.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/model/object.h"
#include "spec/problem.h"

#include <stddef.h>

struct reader {
    struct arena *arena;
    struct problems *problems;
    size_t text_bytes; /* bytes of all texts read so far, for limits on the whole document */
};

/* A place in the document, as a chain up the call stack. The chain becomes a path only when
 * there is a problem. */
struct doc_place {
    const struct doc_place *up; /* NULL: the place is the document itself */
    const char *key;            /* NULL: the place is an index of a list */
    uint32_t index;
};

struct field;
typedef void (*field_fn)(struct reader *in, const struct doc_place *place, const struct doc *doc,
                         const struct field *field, void *object);

struct field {
    const char *name;
    field_fn read; /* NULL: a known name that cannot be given; `note` says why */
    size_t offset; /* of the target in the object */
    int64_t min;   /* of a number the least, of a text the shortest length */
    int64_t max;   /* of a number the most, of a text the longest length */
    const char *note;
    const struct object_field *row; /* for object_read_field() */
};

/* Notes a problem at `place`. `doc` gives the line and the column. */
void fields_problem(struct reader *in, const struct doc_place *place, const struct doc *doc,
                    const char *format, ...) __attribute__((format(printf, 4, 5)));

/* Reads every value of the map by its field. An unknown name is a problem, and the message names
 * the nearest known name. A null value counts as not given. */
void fields_read(struct reader *in, const struct doc_place *place, const struct doc *map,
                 const struct field *fields, void *object);

/* Finds the field that a value's key names. NULL: a problem was noted that names the nearest
 * known field. */
const struct field *fields_find(struct reader *in, const struct doc_place *place,
                                const struct doc *doc, const struct field *fields);

/* Says what kind of value this is, for messages: "a list", "a number". */
const char *fields_what(const struct doc *doc);

/* Returns the known name nearest to `word`; NULL: no name is near. NULL ends the list of names. */
const char *fields_nearest(struct str word, const char *const *names);

/* ---- readers of common kinds of fields; the name of a reader says the type of its target ---- */

void fields_text(struct reader *in, const struct doc_place *place, const struct doc *doc,
                 const struct field *field, void *object); /* const char *; no control characters */
void fields_name(struct reader *in, const struct doc_place *place, const struct doc *doc,
                 const struct field *field,
                 void *object); /* const char *; `note` says what is named: "a pool" */
void fields_u32(struct reader *in, const struct doc_place *place, const struct doc *doc,
                const struct field *field, void *object);
void fields_bool(struct reader *in, const struct doc_place *place, const struct doc *doc,
                 const struct field *field, void *object);
void fields_duration(struct reader *in, const struct doc_place *place, const struct doc *doc,
                     const struct field *field, void *object); /* int64_t milliseconds */

/* ---- single values; false: a problem was noted ---- */

bool fields_value_text(struct reader *in, const struct doc_place *place, const struct doc *doc,
                       size_t len_max, const char **ret);
bool fields_value_u64(struct reader *in, const struct doc_place *place, const struct doc *doc,
                      uint64_t min, uint64_t max, uint64_t *ret);
bool fields_value_duration(struct reader *in, const struct doc_place *place, const struct doc *doc,
                           int64_t *ret_ms);
bool fields_value_name(struct reader *in, const struct doc_place *place, const struct doc *doc,
                       const char *what, const char **ret);
