/* cmd_network.c - `weir network …`. SPDX-License-Identifier: Apache-2.0 */
#include "base/json_out.h"
#include "cli/api.h"
#include "cli/cells.h"
#include "cli/cmd.h"
#include "cli/cost.h"
#include "cli/item.h"
#include "cli/list.h"
#include "cli/object_args.h"
#include "cli/show.h"

enum { NETWORK_JSON_MAX = 1 << 16 };

static void cell_pools(struct buf *out, const struct doc *item, int64_t now_ms)
{
    (void)now_ms;
    cells_names(out, item_at(item, "pools"));
}

static void cell_for(struct buf *out, const struct doc *item, int64_t now_ms)
{
    (void)now_ms;
    const struct doc *guests = item_at(item, "for");
    if (guests == NULL || guests->first == NULL) {
        buf_add_str(out, "all");
    }
    cells_names(out, guests);
}

static void cell_outbound(struct buf *out, const struct doc *item, int64_t now_ms)
{
    (void)now_ms;
    buf_add_str(out, item_true(item, "outbound") ? "yes" : "no");
}

static const struct list_column network_columns[] = {
    {"name", "NAME", COLUMN_TEXT, "name", COLUMN_ALWAYS, NULL},
    {"range", "RANGE", COLUMN_TEXT, "range", COLUMN_ALWAYS, NULL},
    {"outbound", "OUTBOUND", COLUMN_CUSTOM, NULL, COLUMN_ALWAYS, cell_outbound},
    {"for", "FOR", COLUMN_CUSTOM, NULL, COLUMN_ALWAYS, cell_for},
    {"uses", "USES", COLUMN_NUMBER, "uses", COLUMN_ALWAYS, NULL},
    {"pools", "POOLS", COLUMN_CUSTOM, "pools", COLUMN_WIDE, cell_pools},
    {"description", "ABOUT", COLUMN_TEXT, "description", COLUMN_WIDE, NULL},
    {0},
};

static const struct list_column network_fields[] = {
    {"name", "network", COLUMN_TEXT, "name", COLUMN_ALWAYS, NULL},
    {"description", "about", COLUMN_TEXT, "description", COLUMN_ALWAYS, NULL},
    {"range", "range", COLUMN_TEXT, "range", COLUMN_ALWAYS, NULL},
    {"outbound", "outbound", COLUMN_CUSTOM, NULL, COLUMN_ALWAYS, cell_outbound},
    {"for", "for", COLUMN_CUSTOM, NULL, COLUMN_ALWAYS, cell_for},
    {"pools", "pools", COLUMN_CUSTOM, NULL, COLUMN_ALWAYS, cell_pools},
    {"uses", "pools and tasks", COLUMN_NUMBER, "uses", COLUMN_ALWAYS, NULL},
    {0},
};

static const struct list_def network_list = {
    .what = "networks",
    .id_path = "name",
    .columns = network_columns,
    .empty = "`weir network create NAME` makes one",
};

int cmd_network_list(struct cli *cli)
{
    return list_run(cli, &network_list, "/networks");
}

static const char *network_path(struct cli *cli)
{
    return arena_fmt(&cli->arena, "/networks/%s", api_escape(&cli->arena, cli->args.words[0]));
}

int cmd_network_show(struct cli *cli)
{
    return show_run(cli, network_path(cli), "", network_fields, NULL);
}

/* ---- changes ---- */

static int change(struct cli *cli, const char *method, const char *path, struct str body,
                  const char *done)
{
    struct error e;
    struct api_reply reply;
    if (cost_is_dry(cli)) {
        return cost_dry_object(cli, &(struct cost_call){method, path, body, "network"});
    }
    if (api_change(cli, &cli->arena, method, path, body, &reply, &e) != ERR_OK) {
        return context_fail(cli, &e);
    }
    if (!show_json(cli, &reply) && cli->err_tty) {
        context_say("network %s %s", cli->args.words[0], done);
    }
    return EXIT_OK;
}

/* Writes the fields that flags give; false: there are none. */
static bool fields_put(struct cli *cli, struct json_out *j)
{
    const bool top = object_args_json(&cli->args, object_args_network, GROUP_TOP, j);
    return object_args_json(&cli->args, object_args_network, GROUP_OWN, j) || top;
}

int cmd_network_create(struct cli *cli)
{
    struct buf body;
    struct json_out j;
    buf_init(&body, NETWORK_JSON_MAX);
    json_out_init(&j, &body);
    json_out_object(&j);
    json_out_kv_text(&j, "name", cli->args.words[0]);
    (void)fields_put(cli, &j);
    json_out_end(&j);
    const int code = change(cli, "POST", "/networks", (struct str){body.data, body.len}, "made");
    buf_done(&body);
    return code;
}

int cmd_network_edit(struct cli *cli)
{
    struct error e;
    struct buf body;
    struct json_out j;
    buf_init(&body, NETWORK_JSON_MAX);
    json_out_init(&j, &body);
    json_out_object(&j);
    const bool any = fields_put(cli, &j);
    json_out_end(&j);
    int code;
    if (any) {
        code =
            change(cli, "PATCH", network_path(cli), (struct str){body.data, body.len}, "changed");
    } else {
        (void)fail(&e, ERR_USAGE, "nothing to change; `weir network edit --help` lists the flags");
        code = context_fail(cli, &e);
    }
    buf_done(&body);
    return code;
}

int cmd_network_delete(struct cli *cli)
{
    struct error e;
    bool yes = true;
    if (!args_has(&cli->args, "yes") && !cost_is_dry(cli)) {
        context_say("this deletes network %s", cli->args.words[0]);
        if (context_confirm(cli, 1, &yes, &e) != ERR_OK) {
            return context_fail(cli, &e);
        }
    }
    return yes ? change(cli, "DELETE", network_path(cli), (struct str){0}, "deleted") : EXIT_FAILED;
}
