/* task_args.h - the flags of `run` and `submit` as fields of the API's task object. A flag wins
 * over the same field of a task file.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/buf.h"
#include "base/doc.h"
#include "cli/context.h"

enum { TASK_FIELDS_MAX = 32 };

/* A field of the task with its value in JSON. */
struct task_field {
    const char *name;
    const char *json;
};

struct task_args {
    struct task_field fields[TASK_FIELDS_MAX];
    size_t field_count;
    struct task_field resources[TASK_FIELDS_MAX]; /* fields of "resources" */
    size_t resource_count;
    const char *workdir; /* directory of the caller, if the server is on this machine; else NULL */
};

/* Reads and checks the flags of the command, without a call (`task edit` has fewer flags).
 * ERR_USAGE names the flag and the place in its value. */
must_use enum err task_args_read(struct cli *cli, struct task_args *ret, struct error *e);

/* Needs a login. If the server is on this machine, the task runs in the caller's directory. */
void task_args_workdir(struct cli *cli, struct task_args *args);

/* Appends the body of an edit; false: no flag was given. */
bool task_args_json_edit(const struct task_args *args, struct buf *out);

/* Appends the task object: the flags, and the other fields of `file` (NULL: none). */
void task_args_json(const struct task_args *args, const struct doc *file, struct buf *out);
