/* cmd_whatif.c - `weir whatif`: what one change would do. SPDX-License-Identifier: Apache-2.0 */
#include "base/doc.h"
#include "base/json_out.h"
#include "cli/cmd.h"
#include "cli/context.h"
#include "cli/cost.h"
#include "cli/flags.h"

#include <string.h>

enum { WHATIF_BODY_MAX = 1 << 20 };

enum err cmd_whatif_move(int argc, char **argv, struct error *e)
{
    static char dry_run[] = "--dry-run";
    int words = 0;
    if (argc < 3 || strcmp(argv[1], "whatif") != 0) {
        return ERR_OK;
    }
    const struct command *command = command_find(argc - 2, argv + 2, &words);
    if (command == NULL) {
        return ERR_OK; /* METHOD PATH, or a word that is no command */
    }
    if (command_flag(command, dry_run + 2, strlen(dry_run + 2), 0) == NULL) {
        return fail(e, ERR_USAGE, "`weir %s` cannot be tried: it has no --dry-run", command->name);
    }
    memmove(argv + 1, argv + 2, (size_t)words * sizeof *argv);
    argv[1 + words] = dry_run;
    return ERR_OK;
}

static bool is_method(const char *word)
{
    return strcmp(word, "POST") == 0 || strcmp(word, "PUT") == 0 || strcmp(word, "PATCH") == 0 ||
           strcmp(word, "DELETE") == 0;
}

/* Writes the call as the body of POST /whatif. */
static enum err call_json(struct cli *cli, struct buf *out, struct error *e)
{
    const char *method = cli->args.words[0];
    const char *body = cli->args.word_count > 2 ? cli->args.words[2] : NULL;
    struct json_out j;
    struct doc *doc;
    if (!is_method(method) || cli->args.word_count < 2) {
        return fail(
            e, ERR_USAGE,
            "'%.60s' is no command that can be tried; `weir whatif pool edit P --max 8`, or "
            "`weir whatif PATCH /pools/P '{…}'`",
            method);
    }
    if (body != NULL && doc_json_parse(&cli->arena, str_of(body), &doc, e) != ERR_OK) {
        return fail_in(e, "the body");
    }
    json_out_init(&j, out);
    json_out_object(&j);
    json_out_kv_text(&j, "method", method);
    json_out_kv_text(&j, "path", cli->args.words[1]);
    if (body != NULL) {
        json_out_key(&j, "body");
        json_out_raw(&j, str_of(body));
    }
    json_out_end(&j);
    return out->full ? fail(e, ERR_LIMIT, "the body is larger than %d bytes", WHATIF_BODY_MAX)
                     : ERR_OK;
}

int cmd_whatif(struct cli *cli)
{
    struct error e;
    struct buf body;
    buf_init(&body, WHATIF_BODY_MAX);
    int code;
    if (call_json(cli, &body, &e) != ERR_OK) {
        code = context_fail(cli, &e);
    } else {
        const struct cost_call call = {
            .method = "POST", .path = COST_WHATIF, .body = {.p = body.data, .len = body.len}};
        code = cost_dry_run(cli, &call);
    }
    buf_done(&body);
    return code;
}
