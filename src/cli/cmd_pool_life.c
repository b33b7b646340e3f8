/* cmd_pool_life.c - `weir pool close`, `delete` and `restore`. SPDX-License-Identifier: Apache-2.0 */
#include "cli/api.h"
#include "cli/cmd.h"
#include "cli/cost.h"
#include "cli/item.h"
#include "cli/show.h"

/* The path of the pool, and what follows. */
static const char *pool_path(struct cli *cli, const char *more)
{
    return arena_fmt(&cli->arena, "/pools/%s%s", api_escape(&cli->arena, cli->args.words[0]), more);
}

static int change(struct cli *cli, const struct cost_call *call, const char *done)
{
    struct error e;
    struct api_reply reply;
    if (api_change(cli, &cli->arena, call->method, call->path, call->body, &reply, &e) != ERR_OK) {
        return context_fail(cli, &e);
    }
    if (!show_json(cli, &reply) && cli->err_tty) {
        context_say("pool %s %s", cli->args.words[0], done);
    }
    return EXIT_OK;
}

int cmd_pool_life_close(struct cli *cli)
{
    struct error e;
    bool go = true;
    const bool kill = args_has(&cli->args, "kill");
    const struct cost_call call = {.method = "POST",
                                   .path = pool_path(cli, kill ? "/close?kill=true" : "/close"),
                                   .what =
                                       arena_fmt(&cli->arena, "close pool %s", cli->args.words[0])};
    if (cost_is_dry(cli)) {
        return cost_dry_run(cli, &call);
    }
    if (cost_confirm(cli, &call, COST_NEEDS_YES, &go, &e) != ERR_OK) {
        return context_fail(cli, &e);
    }
    return go ? change(cli, &call, "closes: no task starts, and its nodes go") : EXIT_FAILED;
}

int cmd_pool_life_restore(struct cli *cli)
{
    const struct cost_call call = {
        .method = "POST",
        .path = pool_path(cli, "/restore"),
        .what = arena_fmt(&cli->arena, "restore pool %s", cli->args.words[0])};
    return cost_is_dry(cli) ? cost_dry_run(cli, &call)
                            : change(cli, &call, "is open again, with its tasks and quotas");
}

/* Says what goes with the pool, and asks. */
static enum err delete_confirm(struct cli *cli, const struct cost_call *call, bool *ret_yes,
                               struct error *e)
{
    struct api_reply reply;
    enum err r = api_get(cli, &cli->arena, pool_path(cli, ""), &reply, e);
    if (r != ERR_OK || args_has(&cli->args, "yes")) {
        return r;
    }
    const int64_t nodes = item_number(reply.doc, "nodes.total", 0);
    const int64_t running = item_number(reply.doc, "tasks.running", 0);
    const int64_t pending = item_number(reply.doc, "tasks.pending", 0);
    context_say("this deletes pool %s: %lld node%s, %lld task%s running, %lld pending",
                cli->args.words[0], (long long)nodes, nodes == 1 ? "" : "s", (long long)running,
                running == 1 ? "" : "s", (long long)pending);
    r = cost_say(cli, call, e);
    return r != ERR_OK ? r : context_confirm(cli, 1 + (size_t)(running + pending), ret_yes, e);
}

int cmd_pool_life_delete(struct cli *cli)
{
    struct error e;
    bool yes = true;
    const bool now = args_has(&cli->args, "now");
    const char *force = args_has(&cli->args, "force") ? "?force=true" : "?force=false";
    const struct cost_call call = {
        .method = "DELETE",
        .path = pool_path(cli, arena_fmt(&cli->arena, "%s%s", force, now ? "&now=true" : "")),
        .what = arena_fmt(&cli->arena, "delete pool %s%s", cli->args.words[0],
                          now ? " for good" : "; `weir pool restore` brings it back for 24 hours")};
    if (cost_is_dry(cli)) {
        return cost_dry_run(cli, &call);
    }
    if (delete_confirm(cli, &call, &yes, &e) != ERR_OK) {
        return context_fail(cli, &e);
    }
    return yes ? change(cli, &call,
                        now ? "deleted for good"
                            : "deleted; `weir pool restore` brings it back for 24 hours")
               : EXIT_FAILED;
}
