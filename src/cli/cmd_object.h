/* cmd_object.h - the commands that departments, projects, flavors and networks have in common: list, show, create, edit and delete.
 * A row of the command table names the kind of object (command.h); a kind says what is its own.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "cli/cost.h"
#include "cli/list.h"
#include "cli/object_args.h"

struct cmd_object {
    const char *one;         /* "flavor", as messages and `weir <one> edit` have it */
    const char *path;        /* of the API: "/flavors" */
    const char *deletes_too; /* what a delete takes along: " and its quotas"; NULL: nothing */
    const char
        *parent; /* name of a flag and of its field that no table of fields has; NULL: none */
    const struct list_def *list;
    const struct list_column *fields; /* of `show` */
    const struct object_flag *flags;  /* of `create` and `edit` */
};

extern const struct cmd_object cmd_account_department;
extern const struct cmd_object cmd_account_project;
extern const struct cmd_object cmd_flavor;
extern const struct cmd_object cmd_network;

/* The path of the object that the command's first word names: "/flavors/v100". */
const char *cmd_object_path(struct cli *cli, const char *path);

/* Makes the change and says it: "pool v100 changed". `one` is the kind of object. Returns the exit status. */
int cmd_object_change(struct cli *cli, const char *one, const struct cost_call *call,
                      const char *done);

/* Fails a command to which no flag was given. Returns the exit status. */
int cmd_object_same(const struct cli *cli, const char *one);
