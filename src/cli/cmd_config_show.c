/* cmd_config_show.c - `weir config show`: what the server runs with, and where each value and object comes from.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/vec.h"
#include "cli/api.h"
#include "cli/cmd.h"
#include "cli/item.h"
#include "cli/list_table.h"
#include "cli/show.h"

static const struct list_column config_columns[] = {
    {"kind", "KIND", COLUMN_TEXT, "kind", COLUMN_ALWAYS, NULL},
    {"name", "NAME", COLUMN_TEXT, "name", COLUMN_ALWAYS, NULL},
    {"value", "VALUE", COLUMN_TEXT, "value", COLUMN_ALWAYS, NULL},
    {"origin", "FROM", COLUMN_TEXT, "origin", COLUMN_ALWAYS, NULL},
};
enum { CONFIG_COLUMNS = sizeof config_columns / sizeof config_columns[0], TABLE_MAX = 4 << 20 };

static void table_say(struct cli *cli, const struct doc *answer)
{
    const struct list_column *shown[CONFIG_COLUMNS];
    VEC(const struct doc *) items = {0};
    const struct doc *list = item_at(answer, "items");
    for (size_t i = 0; i < CONFIG_COLUMNS; i++) {
        shown[i] = &config_columns[i];
    }
    for (const struct doc *d = list != NULL ? list->first : NULL; d != NULL; d = d->next) {
        vec_push(&items, d);
    }
    const struct list_table_view view = {.items = items.at,
                                         .count = items.count,
                                         .width = cli->width,
                                         .colour = cli->colour,
                                         .now_ms = context_now_ms(cli)};
    struct buf out;
    buf_init(&out, TABLE_MAX);
    list_table_put(&view, shown, CONFIG_COLUMNS, &out);
    context_out((struct str){.p = buf_text(&out), .len = out.len});
    buf_done(&out);
    vec_done(&items);
}

int cmd_config_show(struct cli *cli)
{
    struct error e;
    struct api_reply reply;
    if (api_get(cli, &cli->arena, "/config", &reply, &e) != ERR_OK) {
        return context_fail(cli, &e);
    }
    if (show_json(cli, &reply)) {
        return EXIT_OK;
    }
    table_say(cli, reply.doc);
    const char *path = item_text(reply.doc, "path");
    const char *problem = item_text(reply.doc, "problem");
    const int64_t more = item_number(reply.doc, "more", 0);
    if (more > 0) {
        context_say("%lld objects more", (long long)more);
    }
    if (path[0] == '\0') {
        context_say("the server has no file");
    } else if (problem[0] != '\0') {
        context_say("the server would not take its file now: %s", problem);
    } else {
        context_say("the server's file is %s; `weir config diff` says what it would change now",
                    path);
    }
    return EXIT_OK;
}
