/* cmd_object.c - `weir department …`, `project …`, `flavor …` and `network …`.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/cmd_object.h"

#include "base/json_out.h"
#include "cli/api.h"
#include "cli/cmd.h"
#include "cli/cost.h"
#include "cli/show.h"

enum { OBJECT_JSON_MAX = 1 << 16 };

const char *cmd_object_path(struct cli *cli, const char *path)
{
    return arena_fmt(&cli->arena, "%s/%s", path, api_escape(&cli->arena, cli->args.words[0]));
}

int cmd_object_change(struct cli *cli, const char *one, const struct cost_call *call,
                      const char *done)
{
    struct error e;
    struct api_reply reply;
    if (api_change(cli, &cli->arena, call->method, call->path, call->body, &reply, &e) != ERR_OK) {
        return context_fail(cli, &e);
    }
    if (!show_json(cli, &reply) && cli->err_tty) {
        context_say("%s %s %s", one, cli->args.words[0], done);
    }
    return EXIT_OK;
}

int cmd_object_same(const struct cli *cli, const char *one)
{
    struct error e;
    (void)fail(&e, ERR_USAGE, "nothing to change; `weir %s edit --help` lists the flags", one);
    return context_fail(cli, &e);
}

/* Makes the change and says so. With --dry-run says what the change would do. */
static int change(struct cli *cli, const char *method, const char *path, struct str body,
                  const char *done)
{
    const char *one = cli->args.command->object->one;
    const struct cost_call call = {method, path, body, one};
    return cost_is_dry(cli) ? cost_dry_object(cli, &call)
                            : cmd_object_change(cli, one, &call, done);
}

/* Writes the fields for which flags are given. False: no flag is given. */
static bool fields_put(const struct cli *cli, struct json_out *j)
{
    const struct cmd_object *object = cli->args.command->object;
    const char *parent = object->parent != NULL ? args_text(&cli->args, object->parent) : NULL;
    bool any = parent != NULL;
    if (any) {
        json_out_kv_text(j, object->parent, parent);
    }
    any |= object_args_json(&cli->args, object->flags, GROUP_TOP, j);
    return object_args_json(&cli->args, object->flags, GROUP_OWN, j) || any;
}

int cmd_object_list(struct cli *cli)
{
    const struct cmd_object *object = cli->args.command->object;
    return list_run(cli, object->list, object->path);
}

int cmd_object_show(struct cli *cli)
{
    const struct cmd_object *object = cli->args.command->object;
    return show_run(cli, cmd_object_path(cli, object->path), "", object->fields, NULL);
}

int cmd_object_create(struct cli *cli)
{
    struct buf body;
    struct json_out j;
    buf_init(&body, OBJECT_JSON_MAX);
    json_out_init(&j, &body);
    json_out_object(&j);
    json_out_kv_text(&j, "name", cli->args.words[0]);
    (void)fields_put(cli, &j);
    json_out_end(&j);
    const char *path = cli->args.command->object->path;
    const int code = change(cli, "POST", path, (struct str){body.data, body.len}, "made");
    buf_done(&body);
    return code;
}

int cmd_object_edit(struct cli *cli)
{
    const struct cmd_object *object = cli->args.command->object;
    struct buf body;
    struct json_out j;
    buf_init(&body, OBJECT_JSON_MAX);
    json_out_init(&j, &body);
    json_out_object(&j);
    const bool any = fields_put(cli, &j);
    json_out_end(&j);
    const int code = any ? change(cli, "PATCH", cmd_object_path(cli, object->path),
                                  (struct str){body.data, body.len}, "changed")
                         : cmd_object_same(cli, object->one);
    buf_done(&body);
    return code;
}

int cmd_object_delete(struct cli *cli)
{
    const struct cmd_object *object = cli->args.command->object;
    struct error e;
    bool yes = true;
    if (!args_has(&cli->args, "yes") && !cost_is_dry(cli)) {
        context_say("this deletes %s %s%s", object->one, cli->args.words[0],
                    object->deletes_too != NULL ? object->deletes_too : "");
        if (context_confirm(cli, 1, &yes, &e) != ERR_OK) {
            return context_fail(cli, &e);
        }
    }
    return yes ? change(cli, "DELETE", cmd_object_path(cli, object->path), (struct str){0},
                        "deleted")
               : EXIT_FAILED;
}
