/* object.h - what users describe (a task, a pool, a node, an account, a quota), as a table of its fields.
 *
 * The rows stand in *_fields.def, one file for each object. objects.c makes the tables. All code that must
 * know every field walks these tables: codec, limits and edits here, reading in spec/, JSON in wire/, flags
 * in cli/.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/str.h"
#include "core/model/account.h"
#include "core/model/record.h"
#include "core/model/spec.h"

enum {
    TAG_HEAD = 0, /* the field is always written; such rows come first, in the order of the bytes */
    /* From this tag on: settings of one type of provider. They are shown where they are set. */
    TAG_ENGINE = 40,
    TAG_NONE = 0xff, /* the field has no bytes of its own: another row writes it */
};

/* `words` of a text that may have several lines. */
#define OBJECT_LINES "lines"

/* When an edit may change a field. */
enum object_edit {
    EDIT_NEVER,
    EDIT_ANYTIME,
    EDIT_AT_REST, /* only while no instance of the task has a place */
};

/* Where the field stands in a file and in the API's object. */
enum object_group {
    GROUP_TOP, /* the object itself */
    /* the object itself, in a form that functions of the field's own read and write */
    GROUP_OWN,
    GROUP_SCHEDULER, /* `scheduler: {…}` */
    GROUP_HISTORY,   /* `scheduler: {history: {…}}` */
    GROUP_PROVIDER,  /* `provider: {…}` */
    /* nowhere: the server sets the field, or the field is a part of another field */
    GROUP_HIDDEN,
};

struct object_field {
    struct record_field record;
    /* the default of a number. The bytes leave out a tagged row that has its default */
    int64_t otherwise;
    const char *otherwise_text; /* the default of a text; NULL: "" */
    const char *what;           /* what a name names, for messages: "a project" */
    /* words for special values. Of a duration the words for -1 and -2: "never pool". Of an amount the word
     * for 0. Of a text NULL or OBJECT_LINES */
    const char *words;
    bool (*said)(const void *o); /* RECORD_OWN with a tag: is there anything to write? */
    uint8_t tag;
    uint8_t group; /* enum object_group */
    uint8_t edit;  /* enum object_edit */
    uint8_t bit;   /* the field's bit in a mask of edits, where `edit` is not EDIT_NEVER */
};

struct object {
    const struct object_field *fields;
    uint32_t count;
    uint32_t size; /* of the struct in bytes */
};

/* The row of each field in its table: TASK_FIELD_name … */
#define FIELD(id, kept, tag, change, place, flag) TASK_FIELD_##id,
enum {
#include "core/model/task_fields.def"
};
#undef FIELD
#define FIELD(id, kept, tag, change, place, flag) POOL_FIELD_##id,
enum {
#include "core/model/pool_fields.def"
};
#undef FIELD
#define FIELD(id, kept, tag, change, place, flag) ACCOUNT_FIELD_##id,
enum {
#include "core/model/account_fields.def"
};
#undef FIELD
#define FIELD(id, kept, tag, change, place, flag) FLAVOR_FIELD_##id,
enum {
#include "core/model/flavor_fields.def"
};
#undef FIELD
#define FIELD(id, kept, tag, change, place, flag) NETWORK_FIELD_##id,
enum {
#include "core/model/network_fields.def"
};
#undef FIELD
#define FIELD(id, kept, tag, change, place, flag) QUOTA_FIELD_##id,
enum {
#include "core/model/quota_fields.def"
};
#undef FIELD

extern const struct object_field task_object_fields[];
extern const struct object_field pool_object_fields[];
extern const struct object_field node_object_fields[];
extern const struct object_field account_object_fields[];
extern const struct object_field quota_object_fields[];
extern const struct object_field flavor_object_fields[];
extern const struct object_field network_object_fields[];

extern const struct object task_object;    /* struct task_spec */
extern const struct object pool_object;    /* struct pool_spec */
extern const struct object node_object;    /* struct node_spec */
extern const struct object account_object; /* struct account_spec */
extern const struct object quota_object;   /* struct quota_rules */
extern const struct object flavor_object;  /* struct flavor_spec */
extern const struct object network_object; /* struct network_spec */

/* Sets every field to its default and the rest of the struct to 0. */
void object_init(const struct object *object, void *spec);

/* The bytes of an object: the rows without a tag, then the tagged rows that do not have their default, then
 * the end of the tags. Bytes that are older than tags are read with `plain` of the reader set. A field out of
 * bounds marks the reader bad. `heads` says how many rows without a tag the bytes have, and such bytes have no
 * tags; OBJECT_WHOLE: the bytes have all rows. All other fields get their defaults. */
enum { OBJECT_WHOLE = UINT8_MAX };
void object_encode(const struct object *object, const void *spec, struct buf *out);
void object_decode(const struct object *object, uint32_t heads, struct bytes_reader *in,
                   struct arena *arena, void *spec);

/* Does object_encode() write at most `max` bytes? Most objects are small, and an upper bound says so without writing them. */
bool object_fits(const struct object *object, const void *spec, size_t max);

/* Is every field within its bounds? False: `*ret_limit` is the field's name and `*ret_max` the bound. Rows of
 * RECORD_OWN are not checked. */
bool object_bounded(const struct object *object, const void *spec, const char **ret_limit,
                    int64_t *ret_max);

/* Are all fields that have bytes equal? */
bool object_equal(const struct object *object, const void *one, const void *other);

/* The row that has this name; NULL: there is none. */
const struct object_field *object_find(const struct object *object, const char *name);

/* Does the field have its default? */
bool object_default(const struct object_field *field, const void *spec);

/* The number below 0 that a word of the row's `words` stands for, and the word of such a number. */
bool object_word_find(const struct object_field *field, struct str word, int64_t *ret);
struct str object_word(const struct object_field *field, int64_t value);

/* Copies the fields of `mask` from one spec to another. Lists and texts are borrowed. */
void object_edit(const struct object *object, uint32_t mask, void *to, const void *from);

/* The first field of the table that is in `mask` and may change at rest only; NULL: there is none. */
const struct object_field *object_at_rest(const struct object *object, uint32_t mask);

/* The bits of all fields that may be edited. */
uint32_t object_edit_bits(const struct object *object);
