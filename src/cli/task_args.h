/* task_args.h - what the flags of `run` and `submit` say about a task, as fields of the API's task
 * object. Flags win over what a task file says. SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/buf.h"
#include "base/doc.h"
#include "cli/context.h"

enum { TASK_FIELDS_MAX = 32 };

/* A field of the task, its value in JSON. */
struct task_field {
    const char *name;
    const char *json;
};

struct task_args {
    struct task_field fields[TASK_FIELDS_MAX];
    size_t field_count;
    struct task_field resources[TASK_FIELDS_MAX]; /* fields of "resources" */
    size_t resource_count;
    const char *workdir; /* the caller's, where the server is this machine; NULL: none */
};

/* Reads and checks the flags that the command has (those of `task edit` are fewer), without asking anybody; ERR_USAGE names the flag and the place in its value. */
must_use enum err task_args_read(struct cli *cli, struct task_args *ret, struct error *e);

/* With a login: a server on this machine runs the task in the caller's directory. */
void task_args_workdir(struct cli *cli, struct task_args *args);

/* Appends the body of an edit; false: no flag was given. */
bool task_args_json_edit(const struct task_args *args, struct buf *out);

/* Appends the task object: the flags, and what `file` (NULL: nothing) says beside them. */
void task_args_json(const struct task_args *args, const struct doc *file, struct buf *out);
