/* fallback_text.c - see fallback_text.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/fallback_text.h"

#include "cli/item.h"
#include "cli/text.h"

#include <string.h>

/* Says why a pool is open. */
static void why_add(struct buf *out, const struct doc *open)
{
    static const char *const words[][2] = {
        {"first", "named first"},
        {"impossible", "the task can never run in the pools before"},
        {"after", "the task waited long enough"},
        {"no-capacity", "the pool before has no capacity"},
        {"lost", "the task was lost with its node"},
        {"pool-gone", "the pools before were deleted"},
    };
    const char *why = item_text(open, "why");
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (strcmp(why, words[i][0]) == 0) {
            buf_add_str(out, words[i][1]);
        }
    }
}

/* Writes "default in 4m or when on-demand has no capacity"; false: no pool is left. */
static bool next_add(struct buf *out, const struct doc *doc, int64_t now_ms)
{
    const struct doc *next = item_at(doc, "fallback.next");
    const struct doc *on = item_at(doc, "fallback.on");
    int64_t at_ms;
    bool any = false;
    if (next == NULL || next->kind != DOC_MAP) {
        return false;
    }
    text_escape(out, str_of(item_text(next, "pool")));
    if (item_time(next, "at", &at_ms)) {
        buf_add_str(out, " in ");
        text_span(out, at_ms > now_ms ? at_ms - now_ms : 0);
        any = true;
    }
    for (const struct doc *d = on == NULL ? NULL : on->first; d != NULL; d = d->next) {
        const bool lost = str_is(d->text, "lost");
        buf_addf(out, "%s%s", any ? " or " : " ",
                 lost ? "after a lost node" : "when the pool before has no capacity");
        any = true;
    }
    return true;
}

void fallback_text_pools(struct buf *out, const struct doc *task, int64_t now_ms)
{
    const struct doc *open = item_at(task, "fallback.open");
    if (open == NULL || open->kind != DOC_LIST) {
        return;
    }
    for (const struct doc *d = open->first; d != NULL; d = d->next) {
        buf_add_str(out, d == open->first ? "" : ", ");
        text_escape(out, str_of(item_text(d, "pool")));
        buf_add_str(out, " (");
        why_add(out, d);
        buf_add_char(out, ')');
    }
    const struct doc *next = item_at(task, "fallback.next");
    if (next != NULL && next->kind == DOC_MAP) {
        buf_add_str(out, "; next ");
        (void)next_add(out, task, now_ms);
    }
}

void fallback_text_explain(struct buf *out, const struct doc *doc, int64_t now_ms)
{
    const struct doc *open = item_at(doc, "fallback.open");
    if (open == NULL || open->kind != DOC_LIST) {
        return;
    }
    buf_add_str(out, "\nconsidered in\n");
    for (const struct doc *d = open->first; d != NULL; d = d->next) {
        buf_add_str(out, "  ");
        text_escape(out, str_of(item_text(d, "pool")));
        buf_add_str(out, " (");
        why_add(out, d);
        buf_add_str(out, ")");
        if (item_at(d, "reason.message") != NULL) {
            buf_add_str(out, ": ");
            text_escape(out, str_of(item_text(d, "reason.message")));
        }
        buf_add_char(out, '\n');
    }
    buf_add_str(out, "next pool: ");
    if (!next_add(out, doc, now_ms)) {
        buf_add_str(out, "none is left");
    }
    buf_add_char(out, '\n');
}
