/* record.h - a struct described as a table of its fields.
 *
 * One row describes one field: its name, how the struct keeps its value, and which values the field may have.
 * Codecs, limits, copies and JSON walk such tables, so every field is described once.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/bytes.h"
#include "core/model/ids.h"
#include "core/model/shape.h"

enum record_type {
    RECORD_UINT,  /* uint8_t to uint64_t, or an id made of one. Bytes: u; JSON: a number */
    RECORD_INT,   /* int32_t or int64_t. Bytes: i; JSON: a number */
    RECORD_BOOL,  /* bool, or a uint8_t that is 0 or 1 */
    RECORD_MILLI, /* int64_t or uint32_t, thousandths. Bytes: i (int64_t), u (uint32_t); JSON: 0.5 */
    RECORD_MEMORY,  /* int64_t, bytes of memory. Bytes: i; JSON: a number */
    RECORD_MS,      /* int64_t, milliseconds that something takes. Bytes: i; JSON: a number */
    RECORD_TIME,    /* int64_t, a moment in milliseconds. Bytes: i; JSON: a date and time */
    RECORD_WORD,    /* an enum. Bytes: u; JSON: the word that `word` gives */
    RECORD_TEXT,    /* const char *; NULL counts as "" */
    RECORD_TEXTS,   /* const char *const *, and a uint32_t count */
    RECORD_LABELS,  /* const struct label *, and a uint32_t count */
    RECORD_AMOUNTS, /* const struct named_amount *, and a uint32_t count */
    RECORD_ID16,    /* uint8_t[16] */
    RECORD_KEY,     /* struct attempt_key */
    RECORD_BITS,    /* uint64_t, a set of small numbers. Bytes: u; JSON: [0,2] for bits 0 and 2 */
    RECORD_PART,    /* a struct that `part` describes */
    RECORD_ROWS,    /* a pointer to structs that `part` describes, and a uint32_t count */
    /* several members, or a special form: the row's `put`, `get` and `copy` handle the field */
    RECORD_OWN,
};

/* `high` of an unsigned number that may have any value. */
enum { RECORD_ANY = -1 };

struct record_json_form;
struct record_source;

/* The description of a struct. */
struct record_table {
    const struct record_field *fields;
    uint16_t count;
    uint16_t size; /* of the struct in bytes */
};
#define RECORD_TABLE(object, rows)                                                                 \
    {                                                                                              \
        .fields = (rows), .count = sizeof(rows) / sizeof((rows)[0]), .size = sizeof(object)        \
    }

struct record_field {
    /* the field's name in JSON, in files and in messages; NULL: the field is not shown */
    const char *name;
    uint8_t type;          /* enum record_type */
    uint8_t size;          /* size of the member in bytes */
    uint8_t since;         /* the first version that has the field; 0: all have it */
    uint8_t place;         /* in JSON, fields with a lower place come first */
    uint16_t offset;       /* offset of the member in the struct */
    uint16_t count_offset; /* offset of the member that has the count of a list */
    uint32_t length_max;   /* the longest text of a list, in bytes */
    int64_t low;           /* the smallest number; of texts and lists: the smallest length */
    int64_t high;          /* the largest number; of texts and lists: the largest length */
    int64_t before;        /* the value of a number in versions before `since` */
    /* where the source has the largest number (RECORD_BOUND); 0: `high` is the largest number */
    uint16_t bound_at;
    const struct record_table *part; /* RECORD_PART, RECORD_ROWS: the fields of the struct */
    const char *(*word)(unsigned v); /* RECORD_WORD: NULL beyond the last value */
    /* RECORD_OWN: writes, reads and copies the field */
    void (*put)(const void *object, struct buf *out);
    void (*get)(struct bytes_reader *in, struct arena *arena, void *object);
    void (*copy)(void *to, const void *from);
    /* RECORD_OWN: reads the field in place of `get`, where the version or the bounds of the source matter. */
    void (*read)(const struct record_source *from, void *object);
    /* The members from here on are for JSON (wire/record_json.h). Each may be left out. */
    /* what an error message asks for when the field is missing; NULL: the field may be missing */
    const char *required;
    /* the value of a missing number. A missing text is "", a missing list is empty */
    int64_t otherwise;
    bool sparse; /* the field is not written while it has the value of a missing field */
    /* reads and writes the field in another JSON form than its type has; NULL: the type's form */
    const struct record_json_form *json;
};

/* Each of these macros makes one row. `object` is the struct, `member` the member that keeps the value. */
#define RECORD_AT(object, member)                                                                  \
    .offset = offsetof(object, member), .size = sizeof(((object *)0)->member)
#define RECORD_NUMBER(kind, object, member, json, least, most)                                     \
    {                                                                                              \
        .name = (json), .type = (kind), RECORD_AT(object, member), .low = (least), .high = (most)  \
    }
#define RECORD_LIST(kind, object, member, counter, json, least, most, longest)                     \
    {                                                                                              \
        .name = (json), .type = (kind), RECORD_AT(object, member),                                 \
        .count_offset = offsetof(object, counter), .low = (least), .high = (most),                 \
        .length_max = (longest)                                                                    \
    }

/* The row's largest number is the member `counter` (a uint64_t) of the struct that the source's `bounds`
 * points to. */
#define RECORD_BOUND(object, counter) .bound_at = 1 + offsetof(object, counter)

/* Writes or reads one field. A value out of bounds marks the reader bad. */
void record_put_field(const struct record_field *field, const void *object, struct buf *out);
void record_get_field(const struct record_field *field, struct bytes_reader *in,
                      struct arena *arena, void *object);

/* An upper bound of the bytes that record_put_field() writes, where it is cheap to know: numbers, texts, lists of texts and empty lists.
 * False: it is not, and `*ret` stays as it is. */
bool record_bytes_most(const struct record_field *field, const void *object, size_t *ret);

/* Copies one field from one object to another. Lists and texts are borrowed. */
void record_copy_field(const struct record_field *field, void *to, const void *from);

/* The value of a number, the length of a text, or the count of a list: of a row that has bounds. */
int64_t record_value(const struct record_field *field, const void *object);

/* Does the row have bounds of its own? Not RECORD_ID16, RECORD_KEY, RECORD_PART and RECORD_OWN. */
bool record_has_bounds(const struct record_field *field);

/* Is the field within its bounds? False: `*ret_limit` names the bound that is broken, `*ret_max` is its value. */
bool record_bounded(const struct record_field *field, const void *object, const char **ret_limit,
                    int64_t *ret_max);

/* Are all fields of the table within their bounds? */
bool record_table_bounded(const struct record_table *table, const void *object,
                          const char **ret_limit, int64_t *ret_max);

/* The largest value of an unsigned number. */
uint64_t record_high(const struct record_field *field);

/* The text, list, key or count of a field. The row must have the matching type. */
const char *record_text(const struct record_field *field, const void *object);
const void *record_list(const struct record_field *field, const void *object);
struct attempt_key record_key(const struct record_field *field, const void *object);
uint32_t record_count(const struct record_field *field, const void *object);

/* Sets a number, an enum or a bool. The value must be within the member's range. */
void record_set(const struct record_field *field, void *object, int64_t value);

/* A source of bytes that an older version may have written. */
struct record_source {
    struct bytes_reader *in;
    struct arena *arena;
    uint64_t version;
    /* the struct with the bounds of RECORD_BOUND; NULL: `high` is the bound */
    const void *bounds;
};

/* A source of bytes of the newest version. */
#define RECORD_NOW(reader, memory)                                                                 \
    (&(struct record_source){.in = (reader), .arena = (memory), .version = UINT64_MAX})

/* Reads all fields that the source's version has. Each later field gets its value `before`. The caller has
 * set `object` to zeroes. */
void record_read(const struct record_table *table, const struct record_source *from, void *object);
void record_write(const struct record_table *table, const void *object, struct buf *out);
