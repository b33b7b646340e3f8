/* cmd_account.c - `weir department …` and `weir project …`.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/json_out.h"
#include "cli/api.h"
#include "cli/cmd.h"
#include "cli/cost.h"
#include "cli/item.h"
#include "cli/list.h"
#include "cli/object_args.h"
#include "cli/show.h"

enum { ACCOUNT_JSON_MAX = 1 << 16 };

/* The words in which departments and projects differ. */
struct account_words {
    const char *one;
    const char *path;   /* of the API */
    const char *parent; /* name of the flag and of the field that holds the parent */
};

static const struct account_words department = {"department", "/departments", "parent"};
static const struct account_words project = {"project", "/projects", "department"};

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

static const char *account_path(struct cli *cli, const struct account_words *words)
{
    return arena_fmt(&cli->arena, "%s/%s", words->path,
                     api_escape(&cli->arena, cli->args.words[0]));
}

/* ---- changes ---- */

/* Writes the flags of `create` and `edit`; false: no flag was given. */
static bool account_json(const struct cli *cli, const struct account_words *words,
                         struct json_out *j)
{
    const char *parent = args_text(&cli->args, words->parent);
    if (parent != NULL) {
        json_out_kv_text(j, words->parent, parent);
    }
    return object_args_json(&cli->args, object_args_account, GROUP_TOP, j) || parent != NULL;
}

static int change(struct cli *cli, const struct account_words *words, const char *method,
                  struct str body, const char *done)
{
    struct error e;
    struct api_reply reply;
    bool create = method[0] == 'P' && method[1] == 'O';
    const char *path = create ? words->path : account_path(cli, words);
    if (cost_is_dry(cli)) {
        return cost_dry_object(cli, &(struct cost_call){method, path, body, words->one});
    }
    if (api_change(cli, &cli->arena, method, path, body, &reply, &e) != ERR_OK) {
        return context_fail(cli, &e);
    }
    if (!show_json(cli, &reply) && cli->err_tty) {
        context_say("%s %s %s", words->one, cli->args.words[0], done);
    }
    return EXIT_OK;
}

static int account_create(struct cli *cli, const struct account_words *words)
{
    struct buf body;
    buf_init(&body, ACCOUNT_JSON_MAX);
    struct json_out j;
    json_out_init(&j, &body);
    json_out_object(&j);
    json_out_kv_text(&j, "name", cli->args.words[0]);
    (void)account_json(cli, words, &j);
    json_out_end(&j);
    int code = change(cli, words, "POST", (struct str){.p = body.data, .len = body.len}, "made");
    buf_done(&body);
    return code;
}

static int account_edit(struct cli *cli, const struct account_words *words)
{
    struct error e;
    struct buf body;
    buf_init(&body, ACCOUNT_JSON_MAX);
    struct json_out j;
    json_out_init(&j, &body);
    json_out_object(&j);
    bool any = account_json(cli, words, &j);
    json_out_end(&j);
    int code;
    if (any) {
        code =
            change(cli, words, "PATCH", (struct str){.p = body.data, .len = body.len}, "changed");
    } else {
        (void)fail(&e, ERR_USAGE, "nothing to change; `weir %s edit --help` lists the flags",
                   words->one);
        code = context_fail(cli, &e);
    }
    buf_done(&body);
    return code;
}

static int account_delete(struct cli *cli, const struct account_words *words)
{
    struct error e;
    bool yes = true;
    if (!args_has(&cli->args, "yes") && !cost_is_dry(cli)) {
        context_say("this deletes %s %s and its quotas", words->one, cli->args.words[0]);
        if (context_confirm(cli, 1, &yes, &e) != ERR_OK) {
            return context_fail(cli, &e);
        }
    }
    return yes ? change(cli, words, "DELETE", (struct str){0}, "deleted") : EXIT_FAILED;
}

int cmd_account_department_list(struct cli *cli)
{
    return list_run(cli, &department_list, department.path);
}

int cmd_account_department_show(struct cli *cli)
{
    return show_run(cli, account_path(cli, &department), "", department_fields, NULL);
}

int cmd_account_department_create(struct cli *cli)
{
    return account_create(cli, &department);
}

int cmd_account_department_edit(struct cli *cli)
{
    return account_edit(cli, &department);
}

int cmd_account_department_delete(struct cli *cli)
{
    return account_delete(cli, &department);
}

int cmd_account_project_list(struct cli *cli)
{
    return list_run(cli, &project_list, project.path);
}

int cmd_account_project_show(struct cli *cli)
{
    return show_run(cli, account_path(cli, &project), "", project_fields, NULL);
}

int cmd_account_project_create(struct cli *cli)
{
    return account_create(cli, &project);
}

int cmd_account_project_edit(struct cli *cli)
{
    return account_edit(cli, &project);
}

int cmd_account_project_delete(struct cli *cli)
{
    return account_delete(cli, &project);
}
