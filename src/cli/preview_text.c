/* preview_text.c - see preview_text.h. SPDX-License-Identifier: Apache-2.0 */
#include "cli/preview_text.h"

#include "cli/item.h"
#include "cli/text.h"

#include <stdio.h>
#include <string.h>

enum { TASKS_SHOWN = 10 };

struct lines {
    struct buf *out;
    const struct doc *answer;
    enum preview_voice voice;
    int64_t now_ms;
    int64_t first; /* the first submitted task */
    int64_t count; /* submitted tasks */
};

/* Writes one line about a task. */
typedef void (*line_fn)(const struct lines *lines, const struct doc *task);

/* Writes "would stop " or "this stops ". */
static void verb_add(const struct lines *lines, const char *verb)
{
    const char *ending = strcmp(verb, "launch") == 0 ? "es" : "s";
    if (lines->voice == PREVIEW_WOULD) {
        buf_addf(lines->out, "would %s ", verb);
    } else {
        buf_addf(lines->out, "this %s%s ", verb, ending);
    }
}

/* Writes "task 9 (resnet, of ann in project nlp)". */
static void task_add(struct buf *out, const struct doc *task)
{
    const char *name = item_text(task, "name");
    buf_addf(out, "task %s (%s%sof %s in project %s)", item_text(task, "task"), name,
             name[0] == '\0' ? "" : ", ", item_text(task, "user"), item_text(task, "project"));
}

/* Is this one of the submitted tasks? Writes which, where there are several: a new task has no id yet. */
static bool submitted_add(const struct lines *lines, const struct doc *task)
{
    const int64_t id = item_number(task, "task", 0);
    if (lines->count == 0 || id < lines->first || id >= lines->first + lines->count) {
        return false;
    }
    const char *name = item_text(task, "name");
    if (lines->count > 1) {
        buf_addf(lines->out, "task %lld of %lld%s%s%s ", (long long)(id - lines->first + 1),
                 (long long)lines->count, name[0] == '\0' ? "" : " (", name,
                 name[0] == '\0' ? "" : ")");
    }
    return true;
}

static void stop_line(const struct lines *lines, const struct doc *task)
{
    const int64_t lost_ms = item_number(task, "lost_ms", 0);
    int64_t at_ms;
    verb_add(lines, "stop");
    task_add(lines->out, task);
    if (item_time(task, "at", &at_ms)) {
        buf_add_str(lines->out, " in ");
        text_span(lines->out, at_ms > lines->now_ms ? at_ms - lines->now_ms : 0);
    } else if (item_true(task, "later")) {
        buf_add_str(lines->out, " when its node is replaced");
    }
    if (lost_ms > 0) {
        buf_add_str(lines->out, ", losing ");
        text_span(lines->out, lost_ms);
    }
}

static void end_line(const struct lines *lines, const struct doc *task)
{
    verb_add(lines, "end");
    task_add(lines->out, task);
    buf_addf(lines->out, ", which does not run: %s", item_text(task, "state"));
}

/* Writes ", GPUs 0-3" or ", GPU 2". */
static void devices_add(struct buf *out, const struct doc *devices)
{
    int64_t from;
    int64_t last = -2;
    if (devices == NULL || devices->count == 0) {
        return;
    }
    buf_addf(out, ", GPU%s ", devices->count == 1 ? "" : "s");
    for (const struct doc *d = devices->first; d != NULL; d = d->next) {
        from = 0;
        (void)doc_i64(d, &from);
        int64_t next = -2;
        const bool more = d->next != NULL && doc_i64(d->next, &next) && next == from + 1;
        const bool inside = from == last + 1;
        if (!inside) {
            buf_addf(out, "%s%lld", d == devices->first ? "" : ",", (long long)from);
        } else if (!more) {
            buf_addf(out, "-%lld", (long long)from);
        }
        last = from;
    }
}

/* Writes "on n1, GPUs 0-3" or "2 instances on n1, GPUs 0-1; 1 on n2, GPU 0". */
static void places_add(struct buf *out, const struct doc *start)
{
    const struct doc *places = item_at(start, "places");
    const int64_t instances = item_number(start, "instances", 1);
    int64_t named = 0;
    for (const struct doc *d = places == NULL ? NULL : places->first; d != NULL; d = d->next) {
        const int64_t here = item_number(d, "instances", 1);
        buf_add_str(out, d == places->first ? " " : "; ");
        if (instances > 1) {
            buf_addf(out, "%lld%s", (long long)here,
                     d != places->first ? " "
                     : here == 1        ? " instance "
                                        : " instances ");
        }
        buf_addf(out, "on %s", item_text(d, "node"));
        devices_add(out, item_at(d, "devices"));
        named += here;
    }
    if (named < instances) {
        buf_addf(out, "; %lld elsewhere", (long long)(instances - named));
    }
}

static void start_line(const struct lines *lines, const struct doc *task)
{
    const bool now = item_true(task, "now");
    const bool own = submitted_add(lines, task);
    if (own) {
        buf_add_str(lines->out, "would start");
    } else {
        verb_add(lines, "start");
        task_add(lines->out, task);
    }
    buf_add_str(lines->out, now ? " now" : "");
    places_add(lines->out, task);
    buf_add_str(lines->out, now ? "" : ", once the stopped tasks have left");
}

static void first_add(const struct lines *lines, const struct doc *first)
{
    const int64_t others = item_number(first, "others", 0);
    int64_t at_ms;
    buf_addf(lines->out, "; first when task %s ends", item_text(first, "task"));
    if (others > 0) {
        buf_addf(lines->out, ", after %lld other%s", (long long)others, others == 1 ? "" : "s");
    }
    if (item_time(first, "at", &at_ms) && at_ms > lines->now_ms) {
        buf_add_str(lines->out, ", in ");
        text_span(lines->out, at_ms - lines->now_ms);
        buf_add_str(lines->out, " at the latest");
    }
}

static void wait_line(const struct lines *lines, const struct doc *task)
{
    const struct doc *first = item_at(task, "first");
    if (submitted_add(lines, task)) {
        buf_add_str(lines->out, "would wait");
    } else {
        task_add(lines->out, task);
        buf_add_str(lines->out, lines->voice == PREVIEW_WOULD ? " would wait" : " then waits");
    }
    /* Many reasons begin with the verb: "waits for 2 slots; …". */
    const char *why = item_text(task, "reason.message");
    const size_t verb = strncmp(why, "waits ", 6) == 0 ? 6 : 0;
    buf_addf(lines->out, "%s%s", verb > 0 ? " " : ": ", why + verb);
    if (first != NULL && first->kind == DOC_MAP) {
        first_add(lines, first);
    }
}

/* Writes ", for 4.5 EUR an hour", where the price is known. */
static void price_add(struct buf *out, const struct doc *item, const char *before)
{
    const char *price = item_text(item, "price");
    const char *currency = item_text(item, "currency");
    if (price[0] != '\0' && strcmp(price, "0") != 0) {
        buf_addf(out, ", %s %s%s%s an hour", before, price, currency[0] != '\0' ? " " : "",
                 currency);
    }
}

/* Writes "would launch 3 nodes in pool burst, for 4.5 EUR an hour". */
static void launch_lines(const struct lines *lines)
{
    const struct doc *launches = item_at(lines->answer, "launches");
    for (const struct doc *d = launches == NULL ? NULL : launches->first; d != NULL; d = d->next) {
        const int64_t nodes = item_number(d, "nodes", 0);
        verb_add(lines, "launch");
        buf_addf(lines->out, "%lld node%s in pool %s", (long long)nodes, nodes == 1 ? "" : "s",
                 item_text(d, "pool"));
        price_add(lines->out, d, "for");
        buf_add_char(lines->out, '\n');
    }
}

static void node_end_line(const struct lines *lines, const struct doc *end)
{
    const struct doc *node = item_at(end, "node");
    const bool joined = node != NULL && node->kind == DOC_STRING;
    const bool now = item_true(end, "now");
    const bool replaced = item_true(end, "replaced");
    verb_add(lines, replaced ? "replace" : "end");
    if (joined) {
        buf_addf(lines->out, "node %s of pool %s", node->text.p, item_text(end, "pool"));
    } else {
        buf_addf(lines->out, now ? "a machine of pool %s that has not joined" : "a node of pool %s",
                 item_text(end, "pool"));
    }
    buf_add_str(lines->out, now ? "" : " once it has no work");
    if (!replaced) {
        price_add(lines->out, end, "saving");
    }
}

/* Writes the lines of one kind. `verb`: "stop" for the lists `stops` and `stops_total`. */
static void part_add(const struct lines *lines, const char *verb, line_fn line)
{
    char path[32];
    (void)snprintf(path, sizeof path, "%ss", verb);
    const struct doc *tasks = item_at(lines->answer, path);
    (void)snprintf(path, sizeof path, "%ss_total", verb);
    const int64_t all = item_number(lines->answer, path, 0);
    int64_t shown = 0;
    for (const struct doc *d = tasks == NULL ? NULL : tasks->first;
         d != NULL && shown < TASKS_SHOWN; d = d->next) {
        line(lines, d);
        buf_add_char(lines->out, '\n');
        shown++;
    }
    if (all > shown) {
        const bool nodes = strcmp(verb, "node_end") == 0;
        buf_addf(lines->out, "and %lld more %swould %s\n", (long long)(all - shown),
                 nodes ? "nodes " : "", nodes ? "end" : verb);
    }
}

void preview_text(struct buf *out, const struct doc *answer, enum preview_voice voice,
                  int64_t now_ms)
{
    const struct lines lines = {.out = out,
                                .answer = answer,
                                .voice = voice,
                                .now_ms = now_ms,
                                .first = item_number(answer, "submitted.first", 0),
                                .count = item_number(answer, "submitted.count", 0)};
    part_add(&lines, "stop", stop_line);
    part_add(&lines, "end", end_line);
    part_add(&lines, "start", start_line);
    part_add(&lines, "wait", wait_line);
    launch_lines(&lines);
    part_add(&lines, "node_end", node_end_line);
}
