/* cost.c - see cost.h. SPDX-License-Identifier: Apache-2.0 */
#include "cli/cost.h"

#include "cli/api.h"
#include "cli/cells.h"
#include "cli/item.h"
#include "cli/object_args.h"
#include "cli/preview_text.h"
#include "cli/show.h"
#include "cli/text.h"

#include <string.h>
#include <unistd.h>

enum { COST_TEXT_MAX = 1 << 16, DRY_INDENT = 6 };

void cost_warn(const struct doc *answer)
{
    const struct doc *warnings = item_at(answer, "warnings");
    for (const struct doc *d = warnings == NULL ? NULL : warnings->first; d != NULL; d = d->next) {
        context_say("weir: warning: %s", d->text.p);
    }
}

bool cost_is_dry(const struct cli *cli)
{
    return args_has(&cli->args, "dry-run");
}

/* The answer is in the arena, which the caller ends also after a failure. */
static enum err ask(struct cli *cli, struct arena *arena, const struct cost_call *call,
                    struct api_reply *ret, struct error *e)
{
    const char mark = strchr(call->path, '?') == NULL ? '?' : '&';
    arena_init(arena);
    const char *path = strcmp(call->path, COST_WHATIF) == 0
                           ? call->path
                           : arena_fmt(arena, "%s%cdry_run=true", call->path, mark);
    return api_change(cli, arena, call->method, path, call->body, ret, e);
}

/* Says how --spread divides a task, from the answer of a dry run: writes "would run as 8 instances
 * of gpu=1 each" for each task that becomes several instances. Writes nothing without --spread. */
static void spread_add(const struct cli *cli, const struct doc *answer, struct buf *out)
{
    const struct doc *several =
        object_args_given(&cli->args, "spread") ? item_at(answer, "submitted.several") : NULL;
    const int64_t first = item_number(answer, "submitted.first", 0);
    const int64_t count = item_number(answer, "submitted.count", 1);
    for (const struct doc *d = several != NULL ? several->first : NULL; d != NULL; d = d->next) {
        if (count > 1) {
            buf_addf(out, "task %lld of %lld ", (long long)(item_number(d, "task", 0) - first + 1),
                     (long long)count);
        }
        buf_addf(out, "would run as %s instances of ", item_text(d, "instances"));
        cells_resources_text(out, item_at(d, "resources"));
        buf_add_str(out, " each\n");
    }
}

/* Prints the lines of a dry run. A change that moves no task is said too. */
static void dry_print(const struct cli *cli, const struct doc *answer, bool changes,
                      const char *what)
{
    struct buf text;
    buf_init(&text, COST_TEXT_MAX);
    if (changes && what != NULL) {
        buf_addf(&text, "would %s\n", what);
    }
    spread_add(cli, answer, &text);
    preview_text(&text, answer, PREVIEW_WOULD, text_now_ms());
    if (!changes) {
        buf_add_str(&text, "would change nothing\n");
    } else if (text.len == 0) {
        buf_add_str(&text, "would change this alone: no task starts, waits or stops\n");
    }
    if (item_true(answer, "cut")) {
        buf_add_str(&text, "there may be more: the server looks at a part of what follows\n");
    }
    context_out_wrapped(cli, (struct str){buf_text(&text), text.len}, DRY_INDENT);
    buf_done(&text);
}

enum err cost_dry(struct cli *cli, const struct cost_call *call, int *ret_exit, struct error *e)
{
    struct arena arena;
    struct api_reply reply;
    enum err r = ask(cli, &arena, call, &reply, e);
    if (r == ERR_OK) {
        const bool changes = item_true(reply.doc, "changes");
        if (!object_args_given(&cli->args, "json") || !show_json(cli, &reply)) {
            dry_print(cli, reply.doc, changes, call->what);
        }
        cost_warn(reply.doc);
        *ret_exit = changes ? EXIT_WOULD_CHANGE : EXIT_OK;
    }
    arena_done(&arena);
    return r;
}

int cost_dry_run(struct cli *cli, const struct cost_call *call)
{
    struct error e;
    int code = EXIT_OK;
    return cost_dry(cli, call, &code, &e) == ERR_OK ? code : context_fail(cli, &e);
}

int cost_dry_object(struct cli *cli, const struct cost_call *call)
{
    const bool makes = strcmp(call->method, "POST") == 0;
    const bool deletes = strcmp(call->method, "DELETE") == 0;
    struct cost_call named = *call;
    named.what = arena_fmt(&cli->arena, "%s %s %s",
                           makes     ? "make"
                           : deletes ? "delete"
                                     : "change",
                           call->what, cli->args.words[0]);
    return cost_dry_run(cli, &named);
}

void cost_lines_say(struct buf *lines)
{
    struct str rest = {buf_text(lines), lines->len};
    while (rest.p != NULL && rest.len > 0) {
        struct str line = str_cut(rest, '\n', &rest);
        context_say("%.*s", (int)line.len, line.p);
    }
}

/* Says on standard error what the change does. */
static void answer_say(const struct doc *answer)
{
    struct buf text;
    buf_init(&text, COST_TEXT_MAX);
    preview_text(&text, answer, PREVIEW_THIS, text_now_ms());
    cost_lines_say(&text);
    buf_done(&text);
}

enum err cost_say(struct cli *cli, const struct cost_call *call, struct error *e)
{
    struct arena arena;
    struct api_reply reply;
    if (args_has(&cli->args, "yes")) {
        return ERR_OK;
    }
    enum err r = ask(cli, &arena, call, &reply, e);
    if (r == ERR_OK) {
        answer_say(reply.doc);
    }
    arena_done(&arena);
    return r;
}

/* Says what the change does where it stops tasks. *ret_stops: it does. */
static enum err stops_say(struct cli *cli, const struct cost_call *call, bool *ret_stops,
                          struct error *e)
{
    struct arena arena;
    struct api_reply reply;
    enum err r = ask(cli, &arena, call, &reply, e);
    *ret_stops = r == ERR_OK && item_number(reply.doc, "stops_total", 0) > 0;
    if (*ret_stops) {
        answer_say(reply.doc);
    }
    arena_done(&arena);
    return r;
}

enum err cost_confirm(struct cli *cli, const struct cost_call *call, enum cost_need need,
                      bool *ret_go, struct error *e)
{
    bool stops = false;
    *ret_go = true;
    enum err r = args_has(&cli->args, "yes") ? ERR_OK : stops_say(cli, call, &stops, e);
    const bool may_ask = isatty(STDIN_FILENO) == 1 && cli->err_tty;
    if (r != ERR_OK || !stops || (!may_ask && need == COST_OTHERWISE_GO)) {
        return r;
    }
    if (!may_ask) {
        return fail(e, ERR_CONFLICT,
                    "nothing was changed; give --yes to stop running tasks without a terminal to "
                    "ask on");
    }
    return context_confirm(cli, 1, ret_go, e);
}
