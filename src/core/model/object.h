/* object.h - what users describe (a task, a pool, a node, an account, a quota), as a table of its fields.
 *
 * The rows stand in *_fields.def, one file an object; objects.c makes the tables. Everything that has to know
 * every field walks them: codec, limits and edits here, reading in spec/, JSON in wire/, flags in cli/.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/model/account.h"
#include "core/model/record.h"
#include "core/model/spec.h"

enum {
    TAG_HEAD = 0, /* the field is always written; such rows come first, in the order of the bytes */
    TAG_NONE = 0xff, /* the field has no bytes of its own: another row writes it */
};

/* When an edit may change a field. */
enum object_edit {
    EDIT_NEVER,
    EDIT_ANYTIME,
    EDIT_AT_REST, /* only while no instance of the task has a place */
};

/* Where the field stands in a file and in the API's object. */
enum object_group {
    GROUP_TOP,       /* the object itself */
    GROUP_OWN,       /* the same, in a form that functions of its own read and write */
    GROUP_SCHEDULER, /* `scheduler: {…}` */
    GROUP_HISTORY,   /* `scheduler: {history: {…}}` */
    GROUP_HIDDEN,    /* nowhere: the server sets it, or it is a part of another field */
};

struct object_field {
    struct record_field record;
    int64_t otherwise; /* a number that nobody gave; the bytes of a tagged row leave it out */
    const char *otherwise_text; /* the same for texts; NULL: "" */
    const char *what;           /* of names, for messages: "a project" */
    const char *words; /* of durations, "never pool": the words for -1 and -2; of amounts: for 0 */
    bool (*said)(const void *o); /* RECORD_OWN with a tag: is there anything to write? */
    uint8_t tag;
    uint8_t group; /* enum object_group */
    uint8_t edit;  /* enum object_edit */
    uint8_t bit;   /* of fields that can change: the field's bit in a mask of edits */
};

struct object {
    const struct object_field *fields;
    uint32_t count;
    uint32_t head_count; /* rows that are always written */
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

extern const struct object task_object;    /* struct task_spec */
extern const struct object pool_object;    /* struct pool_spec */
extern const struct object node_object;    /* struct node_spec */
extern const struct object account_object; /* struct account_spec */
extern const struct object quota_object;   /* struct quota_rules */

/* Every field as nobody gave it; the rest of the struct is 0. */
void object_init(const struct object *object, void *spec, size_t size);

/* Rows without a tag, then those with one that do not have their default, then the end of tags. Bytes that were
 * written before an object had tags are read with `plain` of the reader set. Reading marks the reader bad where a field is out of bounds. `heads`: how many rows
 * without a tag the bytes have; fields of the others are as object_init() left them. */
void object_encode(const struct object *object, const void *spec, struct buf *out);
void object_decode(const struct object *object, uint32_t heads, struct bytes_reader *in,
                   struct arena *arena, void *spec);

/* Is every field within its bounds? False: the field's name and the bound. Rows of RECORD_OWN are not looked at. */
bool object_bounded(const struct object *object, const void *spec, const char **ret_limit,
                    int64_t *ret_max);

/* Are all fields that have bytes equal? */
bool object_equal(const struct object *object, const void *one, const void *other);

/* The row that has this name; NULL: there is none. */
const struct object_field *object_find(const struct object *object, const char *name);

/* Has the field its default? */
bool object_default(const struct object_field *field, const void *spec);

/* The fields of `mask` from one spec into another; lists and texts are borrowed. */
void object_edit(const struct object *object, uint32_t mask, void *to, const void *from);

/* The first field of the table that is in `mask` and may change at rest only; NULL: there is none. */
const struct object_field *object_at_rest(const struct object *object, uint32_t mask);

/* The bits of all fields that may be edited. */
uint32_t object_edit_bits(const struct object *object);
