/* cmd_account.c - `weir department …` and `weir project …`.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/cmd_object.h"

static const struct list_column department_columns[] = {
    {"name", "NAME", COLUMN_TEXT, "name", COLUMN_ALWAYS, NULL},
    {"parent", "PARENT", COLUMN_TEXT, "parent", COLUMN_ALWAYS, NULL},
    {"children", "BELOW", COLUMN_NUMBER, "children", COLUMN_ALWAYS, NULL},
    {"tasks", "TASKS", COLUMN_NUMBER, "tasks", COLUMN_ALWAYS, NULL},
    {"title", "TITLE", COLUMN_TEXT, "title", COLUMN_ALWAYS, NULL},
    {"description", "ABOUT", COLUMN_TEXT, "description", COLUMN_WIDE, NULL},
    {0},
};

static const struct list_column project_columns[] = {
    {"name", "NAME", COLUMN_TEXT, "name", COLUMN_ALWAYS, NULL},
    {"department", "DEPARTMENT", COLUMN_TEXT, "department", COLUMN_ALWAYS, NULL},
    {"tasks", "TASKS", COLUMN_NUMBER, "tasks", COLUMN_ALWAYS, NULL},
    {"title", "TITLE", COLUMN_TEXT, "title", COLUMN_ALWAYS, NULL},
    {"description", "ABOUT", COLUMN_TEXT, "description", COLUMN_WIDE, NULL},
    {0},
};

static const struct list_column department_fields[] = {
    {"name", "department", COLUMN_TEXT, "name", COLUMN_ALWAYS, NULL},
    {"parent", "below", COLUMN_TEXT, "parent", COLUMN_ALWAYS, NULL},
    {"title", "title", COLUMN_TEXT, "title", COLUMN_ALWAYS, NULL},
    {"description", "about", COLUMN_TEXT, "description", COLUMN_ALWAYS, NULL},
    {"children", "accounts below", COLUMN_NUMBER, "children", COLUMN_ALWAYS, NULL},
    {"tasks", "tasks", COLUMN_NUMBER, "tasks", COLUMN_ALWAYS, NULL},
    {0},
};

static const struct list_column project_fields[] = {
    {"name", "project", COLUMN_TEXT, "name", COLUMN_ALWAYS, NULL},
    {"department", "department", COLUMN_TEXT, "department", COLUMN_ALWAYS, NULL},
    {"title", "title", COLUMN_TEXT, "title", COLUMN_ALWAYS, NULL},
    {"description", "about", COLUMN_TEXT, "description", COLUMN_ALWAYS, NULL},
    {"tasks", "tasks", COLUMN_NUMBER, "tasks", COLUMN_ALWAYS, NULL},
    {0},
};

static const struct list_def department_list = {
    .what = "departments",
    .id_path = "name",
    .columns = department_columns,
    .empty = "`weir department create NAME` makes one",
};

static const struct list_def project_list = {
    .what = "projects",
    .id_path = "name",
    .columns = project_columns,
    .empty = "`weir project create NAME` makes one",
};

const struct cmd_object cmd_account_department = {
    .one = "department",
    .path = "/departments",
    .deletes_too = " and its quotas",
    .parent = "parent",
    .list = &department_list,
    .fields = department_fields,
    .flags = object_args_account,
};

const struct cmd_object cmd_account_project = {
    .one = "project",
    .path = "/projects",
    .deletes_too = " and its quotas",
    .parent = "department",
    .list = &project_list,
    .fields = project_fields,
    .flags = object_args_account,
};
