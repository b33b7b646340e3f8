/* cost.c - see cost.h. SPDX-License-Identifier: Apache-2.0 */
#include "cli/cost.h"

#include "cli/api.h"
#include "cli/item.h"
#include "cli/text.h"

#include <unistd.h>

enum { COST_TEXT_MAX = 2048, COST_TASKS_SHOWN = 10 };

/* Writes "task 9 (resnet, of ann in project nlp), losing 2h10m". */
static void stop_add(struct buf *out, const struct doc *stop)
{
    const char *name = item_text(stop, "name");
    const int64_t lost_ms = item_number(stop, "lost_ms", 0);
    buf_addf(out, "task %s (%s%sof %s in project %s)", item_text(stop, "task"), name,
             name[0] == '\0' ? "" : ", ", item_text(stop, "user"), item_text(stop, "project"));
    if (lost_ms > 0) {
        buf_add_str(out, ", losing ");
        text_span(out, lost_ms);
    }
}

void cost_say(const struct doc *answer)
{
    const struct doc *stops = item_at(answer, "stops");
    const int64_t total = item_number(answer, "stops_total", 0);
    int64_t shown = 0;
    struct buf line;
    buf_init(&line, COST_TEXT_MAX);
    for (const struct doc *d = stops->first; d != NULL && shown < COST_TASKS_SHOWN; d = d->next) {
        buf_clear(&line);
        stop_add(&line, d);
        context_say("this stops %s", buf_text(&line));
        shown++;
    }
    if (total > shown) {
        context_say("and %lld more", (long long)(total - shown));
    }
    buf_done(&line);
}

enum err cost_confirm(struct cli *cli, const char *method, const char *path, struct str body,
                      enum cost_need need, bool *ret_go, struct error *e)
{
    struct api_reply reply;
    *ret_go = true;
    if (args_has(&cli->args, "yes")) {
        return ERR_OK;
    }
    enum err r = api_change(cli, &cli->arena, method,
                            arena_fmt(&cli->arena, "%s?dry_run=true", path), body, &reply, e);
    const bool may_ask = isatty(STDIN_FILENO) == 1 && cli->err_tty;
    if (r != ERR_OK || item_number(reply.doc, "stops_total", 0) == 0) {
        return r;
    }
    cost_say(reply.doc);
    if (!may_ask && need == COST_OTHERWISE_GO) {
        return ERR_OK;
    }
    if (!may_ask) {
        return fail(e, ERR_CONFLICT,
                    "nothing was changed; give --yes to stop running tasks without a terminal to "
                    "ask on");
    }
    return context_confirm(cli, 1, ret_go, e);
}
