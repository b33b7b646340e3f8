/* fields.h - reading a map field by field out of a table.
 *
 * A field's function gets the value and where in the object it goes; it never returns an error but
 * notes a problem and leaves the object as it was, so that reading goes on.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "spec/problem.h"

#include <stddef.h>

struct reader {
    struct arena *arena;
    struct problems *problems;
    size_t text_bytes; /* texts taken so far, for limits on the whole */
};

/* Where we are, as a chain up the stack; becomes a path only when there is a problem. */
struct doc_place {
    const struct doc_place *up; /* NULL: the document itself */
    const char *key;            /* NULL: an index of a list */
    uint32_t index;
};

struct field;
typedef void (*field_fn)(struct reader *in, const struct doc_place *place, const struct doc *doc,
                         const struct field *field, void *object);

struct field {
    const char *name;
    field_fn read; /* NULL: a known name that cannot be given; `note` says why */
    size_t offset; /* of the target in the object */
    int64_t min;   /* of numbers; of texts the shortest length */
    int64_t max;   /* of numbers; of texts the longest length */
    const char *note;
};

/* Notes a problem with `doc` (for its line and column) at `place`. */
void fields_problem(struct reader *in, const struct doc_place *place, const struct doc *doc,
                    const char *format, ...) __attribute__((format(printf, 4, 5)));

/* Every value of the map through its field; an unknown name is a problem that names the nearest
 * known one. Values that are null count as not given. */
void fields_read(struct reader *in, const struct doc_place *place, const struct doc *map,
                 const struct field *fields, void *object);

/* "a list", "a number": for messages. */
const char *fields_what(const struct doc *doc);

/* The known name nearest to `word`, or NULL when none is near. Names end with NULL. */
const char *fields_nearest(struct str word, const char *const *names);

/* ---- fields of common kinds: the target is what the name says ---- */

void fields_text(struct reader *in, const struct doc_place *place, const struct doc *doc,
                 const struct field *field, void *object); /* const char *; no control characters */
void fields_name(struct reader *in, const struct doc_place *place, const struct doc *doc,
                 const struct field *field,
                 void *object); /* const char *; `note` names the thing */
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
