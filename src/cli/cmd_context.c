/* cmd_context.c - `weir context list|use`: the saved logins, and which one the commands use.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/json_out.h"
#include "base/mem.h"
#include "cli/cmd.h"
#include "cli/context.h"
#include "cli/login_names.h"
#include "cli/table.h"

#include <string.h>

enum { CONTEXTS_BYTES_MAX = 1 << 20 };

static void contexts_json(struct cli *cli, const char *const *names, size_t count,
                          const char *current)
{
    struct buf out;
    struct json_out j;
    buf_init(&out, CONTEXTS_BYTES_MAX);
    json_out_init(&j, &out);
    json_out_array(&j);
    for (size_t i = 0; i < count; i++) {
        struct login login;
        login_read(&cli->arena, names[i], &login);
        json_out_object(&j);
        json_out_kv_text(&j, "name", names[i]);
        json_out_kv_bool(&j, "current", strcmp(names[i], current) == 0);
        json_out_kv_text(&j, "server", login.url);
        json_out_kv_text(&j, "dir", login.dir);
        json_out_end(&j);
    }
    json_out_end(&j);
    buf_add_char(&out, '\n');
    context_out((struct str){.p = buf_text(&out), .len = out.len});
    buf_done(&out);
}

static void contexts_table(struct cli *cli, const char *const *names, size_t count,
                           const char *current)
{
    static const char *const titles[] = {"CURRENT", "NAME", "SERVER", "DIRECTORY"};
    auto_free(table_freep) struct text_table *table = table_new(cli->width, cli->colour);
    for (size_t i = 0; i < sizeof titles / sizeof *titles; i++) {
        table_column(table, titles[i], false);
    }
    for (size_t i = 0; i < count; i++) {
        struct login login;
        login_read(&cli->arena, names[i], &login);
        table_cell(table, str_of(strcmp(names[i], current) == 0 ? "*" : ""), COLOUR_GREEN);
        table_cell(table, str_of(names[i]), COLOUR_NONE);
        table_cell(table, str_of(login.url == NULL ? "" : login.url), COLOUR_NONE);
        table_cell(table, str_of(login.dir == NULL ? "" : login.dir), COLOUR_NONE);
    }
    struct buf out;
    buf_init(&out, CONTEXTS_BYTES_MAX);
    (void)table_print(table, true, 0, &out);
    context_out((struct str){.p = buf_text(&out), .len = out.len});
    buf_done(&out);
}

int cmd_context_list(struct cli *cli)
{
    const char **names;
    const char *current = login_names_current(&cli->arena);
    size_t count = login_names_all(&cli->arena, &names);
    if (args_has(&cli->args, "json")) {
        contexts_json(cli, names, count, current);
    } else if (count == 0) {
        context_say("no saved logins; `weir login URL --as NAME` saves one");
    } else {
        contexts_table(cli, names, count, current);
    }
    return EXIT_OK;
}

int cmd_context_use(struct cli *cli)
{
    struct error e;
    struct login login;
    const char *name = cli->args.words[0];
    if (login_names_use(&cli->arena, name, &e) != ERR_OK) {
        return context_fail(cli, &e);
    }
    login_read(&cli->arena, name, &login);
    context_say("commands now talk to %s (context %s)", login.url == NULL ? "-" : login.url, name);
    return EXIT_OK;
}
