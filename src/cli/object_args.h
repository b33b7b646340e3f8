/* object_args.h - flags that set fields of a task, a pool, a flavor, a network, an account or a quota. The tables of
 * the fields (core/model/…_fields.def) say which flags there are and which field each flag sets.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/doc.h"
#include "base/json_out.h"
#include "cli/args.h"
#include "core/model/object.h"

struct object_flag {
    const char *flag;  /* NULL: the field has no flag */
    const char *field; /* name of the field in JSON; NULL ends a table */
    uint8_t type;      /* enum flag_type */
    uint8_t group;     /* enum object_group */
};

extern const struct object_flag object_args_task[];
extern const struct object_flag object_args_pool[];
extern const struct object_flag object_args_flavor[];
extern const struct object_flag object_args_network[];
extern const struct object_flag object_args_account[];
extern const struct object_flag object_args_quota[];

/* True when the command has this flag and the flag was given. */
bool object_args_given(const struct args *args, const char *flag);

/* Returns the value: a text, a number, a list, or true or false (false for flags that begin with
 * "no-"). */
struct doc *object_args_value(const struct args *args, const struct object_flag *flag,
                              struct arena *arena);

/* Returns all values of a flag that may be given several times, each a list with commas. With
 * DOC_NUMBER a value without a colon becomes a number. With DOC_STRING '' is an empty list. */
struct doc *object_args_list(const struct args *args, const char *flag, enum doc_kind kind,
                             struct arena *arena);

/* Writes "field":value for every given flag of a group; false: no flag was given. */
bool object_args_json(const struct args *args, const struct object_flag *flags,
                      enum object_group group, struct json_out *j);
