/* task_args.h - the flags of `run`, `submit` and `task edit` as fields of the API's task object. A
 * flag wins over the same field of a task file.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/buf.h"
#include "base/doc.h"
#include "cli/context.h"

struct task_args {
    struct doc *fields;    /* a map of the fields that flags set, without resources */
    struct doc *resources; /* a map of the resources that flags set */
    const char *workdir; /* directory of the caller, if the server is on this machine; else NULL */
};

/* Reads and checks the flags of the command, without a call (`task edit` has fewer flags).
 * ERR_USAGE names the flag and the place in its value. */
must_use enum err task_args_read(struct cli *cli, struct task_args *ret, struct error *e);

/* Needs a login. If the server is on this machine, the task runs in the caller's directory. */
void task_args_workdir(struct cli *cli, struct task_args *args);

/* With --upload: sends the directory, and the task names it. Needs a login. */
must_use enum err task_args_upload(struct cli *cli, struct task_args *args, struct error *e);

/* Appends the task object, or the body of an edit: the flags, and the other fields of `file`
 * (NULL: none). False: no flag was given. */
bool task_args_json(const struct task_args *args, const struct doc *file, struct buf *out);

/* The path of a submission. Without --spread the server refuses a task wider than a node. */
const char *task_args_path(const struct cli *cli);

/* With --spread: says into how many instances each task of the answer was divided. */
void task_args_spread_say(const struct cli *cli, const struct doc *tasks);
