/* cmd_object.h - what the commands for departments, projects, flavors and networks have in common:
 * list, show, create, edit and delete. A row of the command table names the kind of object
 * (command.h). A struct cmd_object holds what differs from kind to kind.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "cli/cost.h"
#include "cli/list.h"
#include "cli/object_args.h"

struct cmd_object {
    const char *one;  /* the kind in messages and in `weir <one> edit`: "flavor" */
    const char *path; /* the path of the list in the API: "/flavors" */
    /* what is deleted together with the object, like " and its quotas"; NULL: nothing */
    const char *deletes_too;
    /* a flag whose field stands in no table of fields, like the parent of an account; NULL: no such flag */
    const char *parent;
    const struct list_def *list;
    const struct list_column *fields; /* the rows of `show` */
    const struct object_flag *flags;  /* the flags of `create` and `edit` */
};

extern const struct cmd_object cmd_account_department;
extern const struct cmd_object cmd_account_project;
extern const struct cmd_object cmd_flavor;
extern const struct cmd_object cmd_network;

/* Returns the API's path of the object that the command's first word names: "/flavors/v100". */
const char *cmd_object_path(struct cli *cli, const char *path);

/* Makes the change and prints the result, like "pool v100 changed". `one` is the kind of object.
 * Returns the exit status. */
int cmd_object_change(struct cli *cli, const char *one, const struct cost_call *call,
                      const char *done);

/* Prints that no flag was given, so nothing would change. Returns the exit status. */
int cmd_object_same(const struct cli *cli, const char *one);

/* The parts of the five rows of a kind in the command table. A row adds its help and its examples. OBJECT
 * is the kind's struct cmd_object, KIND its word in commands, WORD its name in the help: flavor, "FLAVOR". */
#define CMD_OBJECT_LIST(OBJECT, KIND)                                                              \
    .name = #KIND " list", .args = "[flags]", .groups = {flags_list}, .object = &(OBJECT),         \
    .run = cmd_object_list
#define CMD_OBJECT_ROW(OBJECT, KIND, does, ARGS)                                                   \
    .name = #KIND " " #does, .args = (ARGS), .args_min = 1, .args_max = 1, .object = &(OBJECT),    \
    .run = cmd_object_##does
#define CMD_OBJECT_SHOW(OBJECT, KIND, WORD, COMPLETE)                                              \
    CMD_OBJECT_ROW(OBJECT, KIND, show, WORD), .groups = {flags_show}, .complete = (COMPLETE)
#define CMD_OBJECT_CREATE(OBJECT, KIND, ARGS, ...)                                                 \
    CMD_OBJECT_ROW(OBJECT, KIND, create, ARGS), .groups = {__VA_ARGS__, flags_dry_run, flags_json}
#define CMD_OBJECT_EDIT(OBJECT, KIND, WORD, COMPLETE, ...)                                         \
    CMD_OBJECT_ROW(OBJECT, KIND, edit, WORD " flags"),                                             \
        .complete = (COMPLETE), .groups = {__VA_ARGS__, flags_dry_run, flags_json}
#define CMD_OBJECT_DELETE(OBJECT, KIND, WORD, COMPLETE)                                            \
    CMD_OBJECT_ROW(OBJECT, KIND, delete, WORD), .complete = (COMPLETE),                            \
                                                .groups = {flags_dry_run, flags_yes, flags_json}
