/* cmd_scale.c - `weir pool scale` and `weir pool replace`: how many nodes a pool has, which leave, and which are replaced.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/json_out.h"
#include "cli/api.h"
#include "cli/cmd.h"
#include "cli/cost.h"
#include "cli/item.h"
#include "cli/show.h"

#include <string.h>

enum { SCALE_JSON_MAX = 1 << 17 };

static void numbers_json(const struct cli *cli, struct json_out *j)
{
    static const char *const names[] = {"nodes", "min", "max"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (args_has(&cli->args, names[i])) {
            json_out_kv_u64(j, names[i], args_number(&cli->args, names[i], 0));
        }
    }
}

/* Writes a list: its flag may be given several times, each with commas. */
static void list_json(const struct cli *cli, struct json_out *j, const char *name)
{
    size_t cursor = 0;
    const char *text;
    json_out_key(j, name);
    json_out_array(j);
    while ((text = args_each(&cli->args, name, &cursor)) != NULL) {
        struct str rest = str_of(text);
        while (rest.p != NULL) {
            const struct str one = str_trim(str_cut(rest, ',', &rest));
            if (one.len > 0) {
                json_out_str(j, one);
            }
        }
    }
    json_out_end(j);
}

static void scale_json(const struct cli *cli, struct buf *out)
{
    const char *busy = args_text(&cli->args, "busy");
    struct json_out j;
    json_out_init(&j, out);
    json_out_object(&j);
    numbers_json(cli, &j);
    list_json(cli, &j, "remove");
    if (args_has(&cli->args, "zones")) {
        list_json(cli, &j, "zones");
    }
    if (busy != NULL) {
        json_out_kv_text(&j, "busy", busy);
    }
    json_out_end(&j);
}

/* Makes the change, or with --dry-run says what it would do. A change that stops tasks is confirmed first. */
static enum err change(struct cli *cli, const struct cost_call *call, struct api_reply *ret,
                       int *ret_exit, struct error *e)
{
    bool go = true;
    *ret_exit = EXIT_OK;
    ret->doc = NULL;
    if (cost_is_dry(cli)) {
        return cost_dry(cli, call, ret_exit, e);
    }
    enum err r = cost_confirm(cli, call, COST_NEEDS_YES, &go, e);
    if (r != ERR_OK || !go) {
        *ret_exit = EXIT_FAILED;
        return r;
    }
    return api_change(cli, &cli->arena, call->method, call->path, call->body, ret, e);
}

static int pool_change(struct cli *cli, const char *verb, struct str body)
{
    struct error e;
    struct api_reply reply;
    int code;
    const char *pool = cli->args.words[0];
    const struct cost_call call = {
        "POST", arena_fmt(&cli->arena, "/pools/%s/%s", api_escape(&cli->arena, pool), verb), body,
        arena_fmt(&cli->arena, "%s pool %s", verb, pool)};
    if (change(cli, &call, &reply, &code, &e) != ERR_OK) {
        return context_fail(cli, &e);
    }
    if (reply.doc != NULL && !show_json(cli, &reply) && cli->err_tty) {
        context_say("pool %s: %s to %s nodes wanted, %s leaving", pool,
                    item_text(reply.doc, "provider.min"), item_text(reply.doc, "provider.max"),
                    item_text(reply.doc, "launches.leaving"));
    }
    return code;
}

int cmd_scale_replace(struct cli *cli)
{
    const char *busy = args_text(&cli->args, "busy");
    const bool stop = args_has(&cli->args, "stop");
    const char *body =
        arena_fmt(&cli->arena, "{\"at_once\":%llu,\"busy\":\"%s\"}",
                  stop ? 0ULL : (unsigned long long)args_number(&cli->args, "at-once", 1),
                  busy != NULL ? busy : "wait");
    return pool_change(cli, "replace", str_of(body));
}

int cmd_scale_pool(struct cli *cli)
{
    struct buf body;
    buf_init(&body, SCALE_JSON_MAX);
    scale_json(cli, &body);
    const int code = pool_change(cli, "scale", (struct str){.p = body.data, .len = body.len});
    buf_done(&body);
    return code;
}
