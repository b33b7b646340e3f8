/* cmd_auth.c - `weir login`, `whoami`, `token …`. SPDX-License-Identifier: Apache-2.0 */
#include "base/json_out.h"
#include "cli/api.h"
#include "cli/cmd.h"
#include "cli/cost.h"
#include "cli/list.h"
#include "cli/show.h"
#include "cli/item.h"
#include "cli/login_names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

enum { TOKEN_MAX = 512, TOKEN_JSON_MAX = 4096 };

static const struct list_column whoami_fields[] = {
    {"name", "name", COLUMN_TEXT, "name", COLUMN_ALWAYS, NULL},
    {"scope", "scope", COLUMN_TEXT, "scope", COLUMN_ALWAYS, NULL},
    {"note", "note", COLUMN_TEXT, "note", COLUMN_ALWAYS, NULL},
    {0},
};

static void whoami_where(const struct cli *cli, const struct doc *doc)
{
    (void)doc;
    context_out_text("server  ");
    context_out_inert(str_of(cli->login.url));
    context_out_text("\n");
}

int cmd_auth_whoami(struct cli *cli)
{
    return show_run(cli, "/whoami", NULL, whoami_fields, whoami_where);
}

/* ---- login ---- */

/* Reads one line from standard input. A terminal does not show the typed line. */
static enum err token_ask(struct arena *arena, const char **ret, struct error *e)
{
    struct termios old;
    bool tty = isatty(STDIN_FILENO) == 1 && tcgetattr(STDIN_FILENO, &old) == 0;
    if (tty) {
        struct termios silent = old;
        silent.c_lflag &= ~(tcflag_t)ECHO;
        (void)fputs("Token: ", stderr);
        (void)tcsetattr(STDIN_FILENO, TCSAFLUSH, &silent);
    }
    char line[TOKEN_MAX] = "";
    const char *got = fgets(line, sizeof line, stdin);
    if (tty) {
        (void)tcsetattr(STDIN_FILENO, TCSAFLUSH, &old);
        (void)fputs("\n", stderr);
    }
    line[strcspn(line, "\r\n")] = '\0';
    if (got == NULL || line[0] == '\0') {
        return fail(e, ERR_USAGE, "no token was given");
    }
    *ret = arena_str(arena, line);
    return ERR_OK;
}

int cmd_auth_login(struct cli *cli)
{
    struct error e;
    const char *url = cli->args.words[0];
    const char *file = args_text(&cli->args, "token-file");
    const char *token = getenv("WEIR_TOKEN");
    enum err r = ERR_OK;
    const bool local = strncmp(url, "unix:/", 6) == 0;
    if (login_url_check(url, &e) != ERR_OK) {
        r = ERR_USAGE;
    } else if (file != NULL && strcmp(file, "-") != 0) {
        r = login_file_read(&cli->arena, file, &token, &e);
    } else if (local && (token == NULL || token[0] == '\0')) {
        token = ""; /* the kernel says who asks */
    } else if (token == NULL || token[0] == '\0') {
        r = token_ask(&cli->arena, &token, &e);
    }
    if (r != ERR_OK) {
        return context_fail(cli, &e);
    }
    (void)setenv("WEIR_SERVER", url, 1);
    (void)setenv("WEIR_TOKEN", token, 1);
    struct api_reply reply;
    struct login_entry entry = {.url = url, .token = token[0] != '\0' ? token : NULL};
    r = api_get(cli, &cli->arena, "/whoami", &reply, &e);
    const char *as = args_text(&cli->args, "as");
    const char *name = as != NULL ? as : login_names_current(&cli->arena);
    r = r != ERR_OK ? r : login_names_check(name, &e);
    r = r != ERR_OK ? r : login_save(&cli->arena, name, &entry, &e);
    r = r != ERR_OK || as == NULL ? r : login_names_use(&cli->arena, name, &e);
    if (r != ERR_OK) {
        return context_fail(cli, &e);
    }
    if (!show_json(cli, &reply)) {
        context_say("logged in to %s as %s (%s), saved as context %s", url,
                    item_text(reply.doc, "name"), item_text(reply.doc, "scope"), name);
    }
    return EXIT_OK;
}

/* ---- tokens ---- */

static const struct list_column token_columns[] = {
    {"id", "ID", COLUMN_TEXT, "id", COLUMN_ALWAYS, NULL},
    {"scope", "SCOPE", COLUMN_TEXT, "scope", COLUMN_ALWAYS, NULL},
    {"name", "NAME", COLUMN_TEXT, "name", COLUMN_ALWAYS, NULL},
    {"created", "CREATED", COLUMN_TIME, "created_at", COLUMN_ALWAYS, NULL},
    {"expires", "EXPIRES", COLUMN_TIME, "expires_at", COLUMN_ALWAYS, NULL},
    {0},
};

static const struct list_def token_list = {
    .what = "tokens",
    .id_path = "id",
    .columns = token_columns,
    .empty = "`weir token create` makes one",
};

int cmd_auth_token_list(struct cli *cli)
{
    return list_run(cli, &token_list, "/tokens");
}

int cmd_auth_secret_show(struct cli *cli, const struct api_reply *reply)
{
    if (!show_json(cli, reply)) {
        context_out_text(item_text(reply->doc, "token"));
        context_out_text("\n");
        if (cli->err_tty) {
            context_say("token %s (%s); its secret is shown only now", item_text(reply->doc, "id"),
                        item_text(reply->doc, "scope"));
        }
    }
    return EXIT_OK;
}

/* Checks the pool of a token. A join token has the name of its pool, so the name must be that of a
 * pool. */
static enum err token_pool_check(const struct cli *cli, struct error *e)
{
    const char *scope = args_text(&cli->args, "scope");
    if (!args_has(&cli->args, "pool")) {
        return ERR_OK;
    }
    if (scope == NULL || strcmp(scope, "join") != 0) {
        return fail(e, ERR_USAGE,
                    "--pool is for tokens with which nodes join; --scope join would do");
    }
    return args_has(&cli->args, "name")
               ? fail(e, ERR_USAGE, "a join token has the name of its pool; leave out --name")
               : ERR_OK;
}

int cmd_auth_token_create(struct cli *cli)
{
    struct error e;
    struct api_reply reply;
    struct buf body;
    buf_init(&body, TOKEN_JSON_MAX);
    struct json_out j;
    json_out_init(&j, &body);
    if (token_pool_check(cli, &e) != ERR_OK) {
        return context_fail(cli, &e);
    }
    const char *scope = args_text(&cli->args, "scope");
    const char *pool = args_text(&cli->args, "pool");
    const char *name = pool != NULL ? pool : args_text(&cli->args, "name");
    const char *expires = args_text(&cli->args, "expires");
    const char *reusable = args_text(&cli->args, "reusable");
    json_out_object(&j);
    json_out_kv_text(&j, "scope", scope == NULL ? "read" : scope);
    if (name != NULL) {
        json_out_kv_text(&j, "name", name);
    }
    if (expires != NULL) {
        json_out_kv_text(&j, "expires_in", expires);
    }
    if (reusable != NULL) {
        json_out_key(&j, "uses");
        json_out_raw(&j, str_of(reusable));
    }
    json_out_end(&j);
    const struct cost_call call = {
        "POST", "/tokens", {.p = body.data, .len = body.len}, "make a token"};
    int code;
    if (cost_is_dry(cli)) {
        code = cost_dry_run(cli, &call);
    } else if (api_change(cli, &cli->arena, call.method, call.path, call.body, &reply, &e) ==
               ERR_OK) {
        code = cmd_auth_secret_show(cli, &reply);
    } else {
        code = context_fail(cli, &e);
    }
    buf_done(&body);
    return code;
}

static int token_delete(struct cli *cli, const char *id)
{
    struct error e;
    struct api_reply reply;
    const struct cost_call call = {
        "DELETE",
        arena_fmt(&cli->arena, "/tokens/%s", api_escape(&cli->arena, id)),
        {0},
        arena_fmt(&cli->arena, "make token %s invalid", id)};
    if (cost_is_dry(cli)) {
        return cost_dry_run(cli, &call);
    }
    return api_change(cli, &cli->arena, call.method, call.path, call.body, &reply, &e) == ERR_OK
               ? EXIT_OK
               : context_fail(cli, &e);
}

int cmd_auth_token_delete(struct cli *cli)
{
    struct error e;
    bool yes = true;
    size_t count = cli->args.word_count;
    if (count > 1 && !args_has(&cli->args, "yes") && !cost_is_dry(cli)) {
        context_say("this makes %zu tokens invalid", count);
        if (context_confirm(cli, count, &yes, &e) != ERR_OK) {
            return context_fail(cli, &e);
        }
    }
    int code = yes ? EXIT_OK : EXIT_FAILED;
    for (size_t i = 0; yes && i < count; i++) {
        const int one = token_delete(cli, cli->args.words[i]);
        code = code == EXIT_OK || (code == EXIT_WOULD_CHANGE && one != EXIT_OK) ? one : code;
    }
    return code;
}
