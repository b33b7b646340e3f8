/* cmd_account.c - `weir department …` and `weir project …`.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/amount.h"
#include "cli/cmd_object.h"
#include "cli/item.h"

#include <string.h>

enum { IDLE_TEXT_MAX = 128 };

static void time_add(struct buf *out, const char *words, int64_t ms)
{
    char text[AMOUNT_TEXT_MAX];
    amount_duration_text(ms, text);
    buf_addf(out, "%s%s after %s", out->len > 0 ? ", " : "", words, text);
}

/* Writes "warned after 30m, ended after 1h", or whose rule holds where the account has none. */
static void cell_idle(struct buf *out, const struct doc *item, int64_t now_ms)
{
    (void)now_ms;
    const char *action = item_text(item, "idle_action");
    const int64_t warn_ms = item_number(item, "idle_warn_ms", 0);
    struct buf text;
    buf_init(&text, IDLE_TEXT_MAX);
    if (warn_ms > 0) {
        time_add(&text, "warned", warn_ms);
    }
    if (strcmp(action, "inherit") == 0) {
        buf_add_str(&text, "as the department above or the pool says");
    } else if (strcmp(action, "none") == 0) {
        buf_add_str(&text, warn_ms > 0 ? ", never paused or ended" : "never paused or ended");
    } else {
        time_add(&text, strcmp(action, "end") == 0 ? "ended" : "paused",
                 item_number(item, "idle_after_ms", 0));
    }
    buf_add_str(out, buf_text(&text));
    buf_done(&text);
}

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
    {"idle", "tasks that do nothing", COLUMN_CUSTOM, "idle_action", COLUMN_ALWAYS, cell_idle},
    {"children", "accounts below", COLUMN_NUMBER, "children", COLUMN_ALWAYS, NULL},
    {"tasks", "tasks", COLUMN_NUMBER, "tasks", COLUMN_ALWAYS, NULL},
    {0},
};

static const struct list_column project_fields[] = {
    {"name", "project", COLUMN_TEXT, "name", COLUMN_ALWAYS, NULL},
    {"department", "department", COLUMN_TEXT, "department", COLUMN_ALWAYS, NULL},
    {"title", "title", COLUMN_TEXT, "title", COLUMN_ALWAYS, NULL},
    {"description", "about", COLUMN_TEXT, "description", COLUMN_ALWAYS, NULL},
    {"idle", "tasks that do nothing", COLUMN_CUSTOM, "idle_action", COLUMN_ALWAYS, cell_idle},
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
