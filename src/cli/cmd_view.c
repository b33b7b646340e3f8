/* cmd_view.c - `weir status`, `queue` and `explain`: what happens, and why.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/amount.h"
#include "cli/api.h"
#include "cli/cells.h"
#include "cli/cmd.h"
#include "cli/explain_place.h"
#include "cli/fallback_text.h"
#include "cli/ids.h"
#include "cli/list.h"
#include "cli/show.h"
#include "cli/task_text.h"
#include "cli/text.h"
#include "cli/item.h"

#include <stdio.h>
#include <string.h>

enum { LINE_BYTES_MAX = 1 << 16 };

/* ---- queue ---- */

static const struct list_column queue_columns[] = {
    {"pool", "POOL", COLUMN_TEXT, "pool", COLUMN_ALWAYS, NULL},
    {"position", "PLACE", COLUMN_NUMBER, "position", COLUMN_ALWAYS, NULL},
    {"id", "ID", COLUMN_NUMBER, "id", COLUMN_ALWAYS, NULL},
    {"name", "NAME", COLUMN_CUSTOM, "name", COLUMN_ALWAYS, task_text_name},
    {"user", "USER", COLUMN_TEXT, "user", COLUMN_LESS, NULL},
    {"project", "PROJECT", COLUMN_TEXT, "project", COLUMN_SPARE, NULL},
    {"state", "STATE", COLUMN_STATE, "state", COLUMN_WIDE, NULL},
    {"priority", "PRIO", COLUMN_NUMBER, "priority", COLUMN_SPARE, NULL},
    {"resources", "RESOURCES", COLUMN_RESOURCES, "resources", COLUMN_ALWAYS, NULL},
    {"instances", "INST", COLUMN_NUMBER, "instances", COLUMN_SPARE, NULL},
    {"submitted", "SUBMITTED", COLUMN_TIME, "submitted_at", COLUMN_LESS, NULL},
    {"reason", "REASON", COLUMN_SENTENCE, "reason.message", COLUMN_ALWAYS, task_text_reason},
    {0},
};

/* Says that nothing waits, and in which pools the command looked. */
static void queue_empty_say(struct cli *cli)
{
    enum { NAMES_MAX = 20 };
    const char *pool = args_text(&cli->args, "pool");
    struct api_reply reply;
    struct buf names;
    buf_init(&names, LINE_BYTES_MAX);
    size_t count = 1;
    if (pool != NULL) {
        buf_add_str(&names, pool);
    } else if (api_get(cli, &cli->arena, "/pools?limit=1000", &reply, NULL) == ERR_OK) {
        const struct doc *pools = item_at(reply.doc, "items");
        count = pools == NULL ? 0 : pools->count;
        size_t shown = 0;
        for (const struct doc *d = pools == NULL ? NULL : pools->first;
             d != NULL && shown < NAMES_MAX; d = d->next, shown++) {
            buf_addf(&names, "%s%s", shown == 0 ? "" : ", ", item_text(d, "name"));
        }
        buf_add_str(&names, count > shown ? ", …" : "");
    }
    if (count == 1) {
        context_say("no tasks waiting in pool %s", buf_text(&names));
    } else {
        context_say("no tasks waiting in any of %zu pools: %s", count, buf_text(&names));
    }
    buf_done(&names);
}

static const struct list_def queue_list = {
    .what = "tasks waiting",
    .id_path = "id",
    .columns = queue_columns,
    .empty_say = queue_empty_say,
};

int cmd_view_queue(struct cli *cli)
{
    const char *pool = args_text(&cli->args, "pool");
    const char *path =
        pool == NULL ? "/queue"
                     : arena_fmt(&cli->arena, "/queue?pool=%s", api_escape(&cli->arena, pool));
    return list_run(cli, &queue_list, path);
}

/* ---- explain ---- */

/* Writes the number of nodes that were looked at. Only a waiting task has one. */
static void cell_looked(struct buf *out, const struct doc *item, int64_t now_ms)
{
    (void)now_ms;
    if (item_at(item, "reason.message") != NULL && item_number(item, "nodes_total", 0) > 0) {
        buf_add_str(out, item_text(item, "nodes_total"));
    }
}

static void cell_place(struct buf *out, const struct doc *item, int64_t now_ms)
{
    (void)now_ms;
    if (item_true(item, "further")) {
        int64_t position = item_number(item, "position", 0);
        buf_addf(out, "more than %lld,%03lld", (long long)position / 1000,
                 (long long)position % 1000);
    } else {
        buf_add_str(out, item_text(item, "position"));
    }
}

/* Writes a figure: "4", "64Gi"; nothing for an amount without a bound. */
static void figure_add(struct buf *out, const struct doc *account, const char *before,
                       const char *path, const char *after)
{
    const struct doc *value = item_at(account, path);
    int64_t bytes;
    if (value == NULL || value->kind == DOC_NULL) {
        return;
    }
    buf_add_str(out, before);
    if (strcmp(item_text(account, "resource"), "memory") == 0 && doc_i64(value, &bytes)) {
        char text[AMOUNT_TEXT_MAX];
        amount_bytes_text(bytes, text);
        buf_add_str(out, text);
    } else {
        buf_add_str(out, item_text(account, path));
    }
    buf_add_str(out, after);
}

/* Writes "project vision holds 4 slots: 2 guaranteed, fair share 6, limit 8". */
static void cell_account(struct buf *out, const struct doc *item, int64_t now_ms)
{
    (void)now_ms;
    const struct doc *account = item_at(item, "account");
    if (account == NULL || account->kind == DOC_NULL || item_at(item, "reason.message") == NULL) {
        return;
    }
    buf_addf(out, "%s %s holds ", item_text(account, "kind"), item_text(account, "name"));
    figure_add(out, account, "", "allocated", " ");
    const char *resource = item_text(account, "resource");
    const bool one =
        strcmp(resource, "slots") == 0 && strcmp(item_text(account, "allocated"), "1") == 0;
    buf_add_str(out, one ? "slot" : resource);
    figure_add(out, account, ": ", "guaranteed", " guaranteed");
    figure_add(out, account, ", fair share ", "share", "");
    figure_add(out, account, ", limit ", "limit", "");
}

/* Writes the server's warnings about the account's guarantee, for example that more is guaranteed
 * than the pool has. */
static void cell_promises(struct buf *out, const struct doc *item, int64_t now_ms)
{
    (void)now_ms;
    const struct doc *warnings = item_at(item, "account.warnings");
    for (const struct doc *d = warnings != NULL ? warnings->first : NULL; d != NULL; d = d->next) {
        buf_add_str(out, d == warnings->first ? "" : "; ");
        text_escape(out, d->text);
    }
}

/* Writes when the task is looked at again at the latest. */
static void cell_until(struct buf *out, const struct doc *item, int64_t now_ms)
{
    int64_t until_ms;
    if (item_time(item, "reason.until", &until_ms)) {
        buf_add_str(out, "at the latest in ");
        text_span(out, until_ms > now_ms ? until_ms - now_ms : 0);
    }
}

/* Writes whether places are kept for the task, or why not yet and for how long. */
static void cell_keeping(struct buf *out, const struct doc *item, int64_t now_ms)
{
    int64_t until_ms;
    if (item_at(item, "keeping.message") == NULL) {
        return;
    }
    text_escape(out, str_of(item_text(item, "keeping.message")));
    if (item_time(item, "keeping.until", &until_ms)) {
        buf_add_str(out, strcmp(item_text(item, "keeping.code"), "budget") == 0 ? "; enough in "
                                                                                : "; in ");
        text_span(out, until_ms > now_ms ? until_ms - now_ms : 0);
    }
}

/* Writes the expected length, and where the expectation comes from. */
static void cell_expected(struct buf *out, const struct doc *item, int64_t now_ms)
{
    static const char *const sources[][2] = {
        {"time-limit", "by its time limit"},
        {"name", "as earlier tasks of this name"},
        {"user-size", "as earlier tasks of this user and size"},
        {"user", "as earlier tasks of this user"},
        {"project-size", "as earlier tasks of this project and size"},
        {"project", "as earlier tasks of this project"},
        {"site", "as all earlier tasks"},
    };
    (void)now_ms;
    const struct doc *ms = item_at(item, "expected.ms");
    if (ms == NULL || ms->kind != DOC_NUMBER) {
        return;
    }
    char text[AMOUNT_TEXT_MAX];
    amount_duration_text(item_number(item, "expected.ms", 0) / 1000 * 1000, text);
    buf_add_str(out, text);
    for (size_t i = 0; i < sizeof sources / sizeof sources[0]; i++) {
        if (strcmp(item_text(item, "expected.from"), sources[i][0]) == 0) {
            buf_addf(out, ", %s", sources[i][1]);
        }
    }
}

/* Writes how many running instances of a service are healthy. Writes nothing for a task without a
 * health check. */
static void cell_health(struct buf *out, const struct doc *item, int64_t now_ms)
{
    (void)now_ms;
    const int64_t healthy = item_number(item, "health.healthy", -1);
    const int64_t unhealthy = item_number(item, "health.unhealthy", 0);
    const int64_t unknown = item_number(item, "health.unknown", 0);
    if (healthy >= 0) {
        buf_addf(out, "%lld of %lld running instances healthy", (long long)healthy,
                 (long long)(healthy + unhealthy + unknown));
    }
}

static const struct list_column explain_fields[] = {
    {"task", "task", COLUMN_NUMBER, "task", COLUMN_ALWAYS, NULL},
    {"state", "state", COLUMN_STATE, "state", COLUMN_ALWAYS, NULL},
    {"reason", "reason", COLUMN_TEXT, "reason.message", COLUMN_ALWAYS, NULL},
    {"health", "health", COLUMN_CUSTOM, NULL, COLUMN_ALWAYS, cell_health},
    {"until", "moves on", COLUMN_CUSTOM, NULL, COLUMN_ALWAYS, cell_until},
    {"keeping", "reservation", COLUMN_CUSTOM, NULL, COLUMN_ALWAYS, cell_keeping},
    {"account", "account", COLUMN_CUSTOM, NULL, COLUMN_ALWAYS, cell_account},
    {"promises", "guarantees", COLUMN_CUSTOM, NULL, COLUMN_ALWAYS, cell_promises},
    {"pool", "pool", COLUMN_TEXT, "pool", COLUMN_ALWAYS, NULL},
    {"position", "place", COLUMN_CUSTOM_NUMBER, NULL, COLUMN_ALWAYS, cell_place},
    {"evicted", "last evicted", COLUMN_TEXT, "evicted.message", COLUMN_ALWAYS, NULL},
    {"expected", "runs about", COLUMN_CUSTOM, NULL, COLUMN_ALWAYS, cell_expected},
    {"until", "starts by", COLUMN_TIME, "reserved_until", COLUMN_ALWAYS, NULL},
    {"nodes", "nodes looked at", COLUMN_CUSTOM_NUMBER, NULL, COLUMN_ALWAYS, cell_looked},
    {0},
};

/* A task that has its places waits for nothing: says where to look instead. */
static void placed_say(struct buf *out, const struct doc *doc)
{
    static const char *const placed[] = {"starting", "running", "stopping"};
    for (size_t i = 0; i < sizeof placed / sizeof placed[0]; i++) {
        if (strcmp(item_text(doc, "state"), placed[i]) == 0 &&
            item_at(doc, "reason.code") == NULL) {
            buf_addf(
                out,
                "the task has its places and waits for nothing; `weir task show %s` says where\n",
                item_text(doc, "task"));
        }
    }
}

/* The tasks that hold the first of the nearest nodes, or that the task waits for by its own wish. */
static void blockers_say(struct buf *out, const struct doc *near, const struct doc *blockers)
{
    const bool some = blockers != NULL && blockers->count > 0;
    if (!some) {
        return;
    }
    const bool held = near != NULL && near->first != NULL;
    buf_addf(out, "\n%s%s task%s", held ? item_text(near->first, "node") : "waits for",
             held ? " is held by" : "", blockers->count == 1 ? "" : "s");
    for (const struct doc *d = blockers->first; d != NULL; d = d->next) {
        buf_addf(out, "%s%s", d == blockers->first ? " " : ", ", d->text.p);
    }
    buf_add_char(out, '\n');
}

static void explain_more(const struct cli *cli, const struct doc *doc)
{
    struct buf out;
    buf_init(&out, LINE_BYTES_MAX);
    placed_say(&out, doc);
    const struct doc *near = item_at(doc, "nearest");
    const struct doc *hints = item_at(doc, "suggestions");
    fallback_text_explain(&out, doc, context_now_ms(cli));
    buf_add_str(&out, near != NULL && near->count > 0 ? "\nnearest nodes\n" : "");
    for (const struct doc *d = near == NULL ? NULL : near->first; d != NULL; d = d->next) {
        buf_addf(&out, "  %s: ", item_text(d, "node"));
        text_escape(&out, str_of(item_text(d, "message")));
        buf_add_char(&out, '\n');
    }
    blockers_say(&out, near, item_at(doc, "blockers"));
    buf_add_str(&out, hints != NULL && hints->count > 0 ? "\nwhat would help\n" : "");
    for (const struct doc *d = hints == NULL ? NULL : hints->first; d != NULL; d = d->next) {
        buf_add_str(&out, "  ");
        text_escape(&out, d->text);
        buf_add_char(&out, '\n');
    }
    context_out_inert((struct str){.p = buf_text(&out), .len = out.len});
    buf_done(&out);
}

int cmd_view_explain(struct cli *cli)
{
    struct error e;
    struct attempt_name name;
    if (args_has(&cli->args, "file") != (cli->args.word_count == 0)) {
        (void)fail(&e, ERR_USAGE,
                   "give a task, a node or a pool, or a task file: weir explain 12, "
                   "weir explain -f task.yaml");
        return context_fail(cli, &e);
    }
    if (cli->args.word_count == 0 && cli->at_ms != 0) {
        (void)fail(&e, ERR_USAGE,
                   "a task file is tried now: --at goes with a task, a node or a pool");
        return context_fail(cli, &e);
    }
    if (cli->args.word_count == 0) {
        return cmd_submit_explain(cli);
    }
    if (ids_name_parse(cli->args.words[0], &name, &e) != ERR_OK) {
        return explain_place(cli, cli->args.words[0]);
    }
    const unsigned long long id = name.task;
    const int code =
        show_run(cli, arena_fmt(&cli->arena, "/tasks/%llu/explain", id),
                 arena_fmt(&cli->arena, "task=%llu", id), explain_fields, explain_more);
    if (code == EXIT_CONFLICT && cli->at_ms == 0) {
        context_say("      `weir explain %llu --at TIME` says why it waited at an earlier time",
                    id);
    }
    return code;
}

/* ---- status ---- */

/* Writes the counts that are not zero: "2 running, 5 pending". */
static void counts_line(struct buf *out, const char *label, const struct doc *counts)
{
    buf_addf(out, "%-8s", label);
    bool any = false;
    for (const struct doc *d = counts == NULL ? NULL : counts->first; d != NULL; d = d->next) {
        if (d->kind == DOC_NUMBER && !str_is(d->text, "0")) {
            buf_addf(out, "%s%s %s", any ? ", " : "", d->text.p, d->key.p);
            any = true;
        }
    }
    buf_add_str(out, any ? "\n" : "none\n");
}

static int status_print(struct cli *cli, const struct doc *doc)
{
    struct buf out;
    buf_init(&out, LINE_BYTES_MAX);
    buf_addf(&out, "%-8s%s, version %s", "server", cli->login.url, item_text(doc, "version"));
    int64_t now_ms;
    int64_t started_ms;
    if (item_time(doc, "time", &now_ms) && item_time(doc, "started_at", &started_ms)) {
        buf_add_str(&out, ", started ");
        text_ago(&out, started_ms, now_ms);
    }
    buf_add_char(&out, '\n');
    if (!item_true(doc, "writable")) {
        buf_addf(&out, "%-8s", "trouble");
        text_escape(&out, str_of(item_text(doc, "problem")));
        buf_add_str(&out,
                    "; reads are answered, changes are refused until the server can store them\n");
    }
    buf_addf(&out, "%-8s%s\n", "pools", item_text(doc, "pools"));
    counts_line(&out, "nodes", item_at(doc, "nodes"));
    counts_line(&out, "tasks", item_at(doc, "tasks"));
    context_out_inert((struct str){.p = buf_text(&out), .len = out.len});
    buf_done(&out);
    return EXIT_OK;
}

int cmd_view_status(struct cli *cli)
{
    struct error e;
    struct api_reply reply;
    if (api_get(cli, &cli->arena, "/status", &reply, &e) != ERR_OK) {
        return context_fail(cli, &e);
    }
    return show_json(cli, &reply) ? EXIT_OK : status_print(cli, reply.doc);
}
