/* show.c - see show.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/show.h"

#include "cli/cells.h"
#include "cli/text.h"
#include "cli/item.h"
#include "cli/watch.h"

#include <stdio.h>
#include <string.h>

enum { SHOW_MAX = 1 << 20, SHOW_WAIT_MS = 600000, LABEL_MIN = 6, SENTENCE_MIN = 20 };

static size_t label_width(const struct list_column *fields)
{
    size_t width = LABEL_MIN;
    for (const struct list_column *f = fields; f->name != NULL; f++) {
        size_t len = strlen(f->title);
        width = len > width ? len : width;
    }
    return width;
}

/* Writes a value. A sentence is broken between words and goes on below its beginning. A value
 * that people may copy, such as a command, stays in one piece. */
static void value_add(struct buf *out, const struct cli *cli, const struct list_column *field,
                      size_t indent, const struct buf *shown)
{
    const bool sentence = field->kind == COLUMN_TEXT || field->kind == COLUMN_CUSTOM;
    if (sentence && cli->width > indent + SENTENCE_MIN) {
        struct buf wrapped;
        buf_init(&wrapped, SHOW_MAX);
        text_wrap(&wrapped, (struct str){.p = shown->data, .len = shown->len}, cli->width - indent,
                  0);
        struct str rest = {.p = buf_text(&wrapped), .len = wrapped.len};
        for (bool first = true; rest.p != NULL; first = false) {
            const struct str line = str_cut(rest, '\n', &rest);
            buf_addf(out, "%s%*s", first ? "" : "\n", first ? 0 : (int)indent, "");
            buf_add(out, line.p, line.len);
        }
        buf_done(&wrapped);
    } else {
        buf_add(out, shown->data, shown->len);
    }
}

void show_fields(const struct cli *cli, const struct list_column *fields, const struct doc *doc)
{
    struct buf out;
    struct buf raw;
    struct buf shown;
    buf_init(&out, SHOW_MAX);
    buf_init(&raw, SHOW_MAX);
    buf_init(&shown, SHOW_MAX);
    int64_t now_ms = context_now_ms(cli);
    size_t width = label_width(fields);
    bool wide = args_has(&cli->args, "wide");
    for (const struct list_column *f = fields; f->name != NULL; f++) {
        buf_clear(&raw);
        buf_clear(&shown);
        cells_text(&raw, f, doc, wide, now_ms);
        if (raw.len == 0 || (f->when == COLUMN_WIDE && !wide)) {
            continue;
        }
        text_escape(&shown, (struct str){.p = raw.data, .len = raw.len});
        buf_addf(&out, "%-*s  ", (int)width, f->title);
        if (f->kind == COLUMN_STATE) {
            table_paint(&out, cli->colour, cells_state_colour(buf_text(&raw)), buf_text(&shown));
        } else {
            value_add(&out, cli, f, width + 2, &shown);
        }
        buf_add_char(&out, '\n');
    }
    context_out((struct str){.p = buf_text(&out), .len = out.len});
    buf_done(&shown);
    buf_done(&raw);
    buf_done(&out);
}

bool show_json(const struct cli *cli, const struct api_reply *reply)
{
    if (!args_has(&cli->args, "json")) {
        return false;
    }
    context_out(reply->body.len == 0 ? str_of("{}") : reply->body);
    bool ended = reply->body.len > 0 && reply->body.p[reply->body.len - 1] == '\n';
    context_out_text(ended ? "" : "\n");
    return true;
}

static void show_reply(const struct cli *cli, const struct api_reply *reply,
                       const struct list_column *fields, show_fn after)
{
    if (show_json(cli, reply)) {
        return;
    }
    show_fields(cli, fields, reply->doc);
    if (after != NULL) {
        after(cli, reply->doc);
    }
}

/* Shows the object again whenever it has changed. */
static enum err show_watch(struct cli *cli, const char *path, const char *events,
                           const struct list_column *fields, show_fn after, struct error *e)
{
    struct cli_watch *watch = watch_start(&cli->login, events);
    struct watch_seen *seen = watch_seen_new();
    struct arena arena;
    arena_init(&arena);
    struct api_reply reply;
    enum err r = ERR_OK;
    while (r == ERR_OK) {
        arena_clear(&arena);
        r = api_get_patient(cli, &arena, path, &reply, e);
        if (r == ERR_OK && watch_seen_changed(seen, path, reply.body)) {
            context_out_text(cli->out_tty && !args_has(&cli->args, "json") ? "\033[H\033[J" : "");
            show_reply(cli, &reply, fields, after);
        }
        while (r == ERR_OK && !watch_wait(watch, SHOW_WAIT_MS)) {
        }
    }
    arena_done(&arena);
    watch_seen_free(seen);
    watch_free(watch);
    return r;
}

int show_run(struct cli *cli, const char *path, const char *events,
             const struct list_column *fields, show_fn after)
{
    struct error e;
    struct api_reply reply;
    enum err r = api_get(cli, &cli->arena, path, &reply, &e);
    if (r == ERR_OK && args_has(&cli->args, "watch")) {
        r = show_watch(cli, path, events, fields, after, &e);
    } else if (r == ERR_OK) {
        show_reply(cli, &reply, fields, after);
    }
    return r == ERR_OK ? EXIT_OK : context_fail(cli, &e);
}
