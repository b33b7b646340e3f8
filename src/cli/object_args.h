/* object_args.h - flags that set fields of a task, a pool, an account or a quota. The tables of
 * the fields (core/model/…_fields.def) say which flags there are and which field each flag sets.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

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
extern const struct object_flag object_args_account[];
extern const struct object_flag object_args_quota[];

/* True when the command has this flag and the flag was given. */
bool object_args_given(const struct args *args, const char *flag);

/* Writes only the value: a text, a number, a list, or true or false (false for flags that begin
 * with "no-"). */
void object_args_value(const struct args *args, const struct object_flag *flag, struct json_out *j);

/* Writes "field":value for every given flag of a group; false: no flag was given. */
bool object_args_json(const struct args *args, const struct object_flag *flags,
                      enum object_group group, struct json_out *j);
