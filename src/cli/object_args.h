/* object_args.h - flags that set fields of a task, a pool, an account or a quota. Which flags there are, and which field each
 * sets, stands in the tables of the fields (core/model/…_fields.def).
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/json_out.h"
#include "cli/args.h"
#include "core/model/object.h"

struct object_flag {
    const char *flag;  /* NULL: the field has none */
    const char *field; /* its name in JSON; NULL ends a table */
    uint8_t type;      /* enum flag_type */
    uint8_t group;     /* enum object_group */
};

extern const struct object_flag object_args_task[];
extern const struct object_flag object_args_pool[];
extern const struct object_flag object_args_account[];
extern const struct object_flag object_args_quota[];

/* Has the command this flag at all, and was it given? */
bool object_args_given(const struct args *args, const char *flag);

/* The value alone: a text, a number, true or false (flags that begin with "no-"), a list. */
void object_args_value(const struct args *args, const struct object_flag *flag, struct json_out *j);

/* "field":value for every flag of a group that was given; false: none was. */
bool object_args_json(const struct args *args, const struct object_flag *flags,
                      enum object_group group, struct json_out *j);
