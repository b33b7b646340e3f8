/* cmd_config_import.c - `weir config import`: the configuration of another system as a server file.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/cmd.h"
#include "cli/context.h"
#include "compat/determined/det_weir.h"
#include "spec/server_file.h"

#include <string.h>

enum { IMPORT_MAX = 4 << 20 };

/* Says every problem on standard error, with its line. */
static int problems_say(struct cli *cli, const struct problems *problems, const char *path,
                        struct str text)
{
    struct error e;
    context_report(&cli->arena, problem_report(problems, path, text, &cli->arena));
    (void)problem_count_error(problems, path, &e);
    return context_fail(cli, &e);
}

/* Prints the server file, and says what has to be filled in. */
static int server_file_print(struct cli *cli, const struct det_config *config)
{
    struct buf out;
    struct error e;
    struct server_file file;
    struct problems *missing = arena_new(&cli->arena, struct problems, 1);
    buf_init(&out, IMPORT_MAX);
    det_weir_write(config, &out);
    const struct str all = {.p = buf_text(&out), .len = out.len};
    context_out(all);
    int code = EXIT_OK;
    if (server_file_read(all, "the server file", &cli->arena, &file, missing, &e) != ERR_OK) {
        context_report(&cli->arena, problem_report(missing, "the server file", all, &cli->arena));
        (void)fail(&e, ERR_INVALID, "%u values of the server file have to be filled in or changed",
                   missing->total);
        (void)context_fail(cli, &e);
        code = EXIT_FAILED;
    }
    buf_done(&out);
    return code;
}

static int import(struct cli *cli, const char *path, struct str text)
{
    struct error e;
    struct doc *doc = NULL;
    struct det_config *config = arena_new(&cli->arena, struct det_config, 1);
    if (doc_yaml_parse(&cli->arena, text, &doc, &e) != ERR_OK) {
        struct problems *syntax = arena_new(&cli->arena, struct problems, 1);
        problem_syntax(syntax, &cli->arena, &e);
        return problems_say(cli, syntax, path, text);
    }
    det_config_read(doc, &cli->arena, config);
    return config->form.count > 0    ? problems_say(cli, &config->form, path, text)
           : config->rules.count > 0 ? problems_say(cli, &config->rules, path, text)
                                     : server_file_print(cli, config);
}

int cmd_config_import(struct cli *cli)
{
    struct error e;
    struct buf text;
    const char *path = cli->args.words[1];
    if (strcmp(cli->args.words[0], "determined") != 0) {
        (void)fail(&e, ERR_USAGE, "'%.40s' cannot be imported; determined would do",
                   cli->args.words[0]);
        return context_fail(cli, &e);
    }
    buf_init(&text, IMPORT_MAX);
    const int code = cmd_data_config_text(path, &text, &e) != ERR_OK
                         ? context_fail(cli, &e)
                         : import(cli, path, (struct str){.p = buf_text(&text), .len = text.len});
    buf_done(&text);
    return code;
}
