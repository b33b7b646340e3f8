/* cmd_events.c - `weir events` and `weir pool events`: what happened.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/api.h"
#include "cli/cmd.h"
#include "cli/item.h"
#include "cli/list_filter.h"
#include "cli/text.h"
#include "cli/wait_line.h"
#include "io/http_client.h"

#include <string.h>

enum { LINE_BYTES_MAX = 1 << 16, EVENTS_QUIET_MS = 300, EVENTS_IDLE_MS = 60000 };
struct events {
    struct cli *cli;
    bool json;
    bool from_now; /* follow, starting with the next event */
    uint64_t after;
    /* show the events of this pool; NULL: show all events that the flags choose */
    const char *pool;
    const char *query; /* the terms of --filter that the server applies, like "&type=task-ended" */
    struct list_filter filter;
    struct arena arena;
};

#define EVENT_FIELD(name)                                                                          \
    {                                                                                              \
        name, "", COLUMN_TEXT, name, COLUMN_ALWAYS, NULL                                           \
    }

/* The fields that --filter knows without a path. A path such as victim.project reaches all others. */
static const struct list_column event_columns[] = {
    EVENT_FIELD("type"),
    EVENT_FIELD("task"),
    EVENT_FIELD("pool"),
    EVENT_FIELD("node"),
    EVENT_FIELD("actor"),
    EVENT_FIELD("cause"),
    EVENT_FIELD("project"),
    EVENT_FIELD("department"),
    EVENT_FIELD("user"),
    EVENT_FIELD("name"),
    EVENT_FIELD("kind"),
    EVENT_FIELD("state"),
    EVENT_FIELD("message"),
    EVENT_FIELD("seq"),
    EVENT_FIELD("time"),
    EVENT_FIELD("rule"),
    EVENT_FIELD("priority"),
    EVENT_FIELD("instances"),
    {0},
};

static const struct list_def event_list = {
    .what = "events",
    .columns = event_columns,
    .filters = "task pool type",
};

/* Writes the plain fields of a map: victim=(project=vision allocated=4). */
static void map_add(struct buf *out, const struct doc *map)
{
    bool any = false;
    buf_addf(out, "  %s=(", map->key.p);
    for (const struct doc *d = map->first; d != NULL; d = d->next) {
        const char *value = item_text(d, "");
        if (value[0] != '\0') {
            buf_addf(out, "%s%s=", any ? " " : "", d->key.p);
            text_escape(out, str_of(value));
            any = true;
        }
    }
    buf_add_char(out, ')');
}

/* Prints "2026-…Z task-ended task 12 node n1 by admin". */
static void event_print(const struct doc *doc)
{
    static const char *const shown[] = {"seq", "time", "type", "actor", "cause"};
    struct buf out;
    buf_init(&out, LINE_BYTES_MAX);
    buf_addf(&out, "%s  %s  %s", item_text(doc, "seq"), item_text(doc, "time"),
             item_text(doc, "type"));
    for (const struct doc *d = doc->first; d != NULL; d = d->next) {
        bool known = d->kind == DOC_MAP || d->kind == DOC_LIST || d->kind == DOC_NULL;
        for (size_t i = 0; i < sizeof shown / sizeof *shown; i++) {
            known = known || str_is(d->key, shown[i]);
        }
        const char *value = item_text(d, "");
        if (!known && value[0] != '\0') {
            buf_addf(&out, "  %s=", d->key.p);
            text_escape(&out, str_of(value));
        } else if (d->kind == DOC_MAP) {
            map_add(&out, d);
        }
    }
    const char *actor = item_text(doc, "actor");
    if (actor[0] != '\0') {
        buf_add_str(&out, "  by ");
        text_escape(&out, str_of(actor));
    }
    buf_add_char(&out, '\n');
    context_out_inert((struct str){.p = buf_text(&out), .len = out.len});
    buf_done(&out);
}

/* ---- the story of a pool ---- */

/* Writes what became of a node that a provider was asked for. */
static void launch_add(struct buf *out, const struct doc *doc, const char *type)
{
    const char *launch = item_text(doc, "launch");
    const char *words = item_text(doc, "message");
    const char *node = item_text(doc, "node");
    const char *state = item_text(doc, "state");
    if (strcmp(type, "launch-asked") == 0) {
        buf_addf(out, "node %s is asked of the provider", launch);
    } else if (strcmp(type, "launch-ended") == 0) {
        buf_addf(out, "node %s %s", launch,
                 item_true(doc, "failed") ? "did not come up" : "is gone");
    } else if (strcmp(state, "ending") == 0) {
        buf_addf(out, "node %s is to end", launch);
    } else if (node[0] != '\0') {
        buf_addf(out, "node %s has joined as %s", launch, node);
    } else {
        buf_addf(out, "node %s: the provider %s", launch,
                 strcmp(state, "running") == 0 ? "has started it" : "works on it");
    }
    buf_addf(out, "%s%s", words[0] == '\0' ? "" : ": ", words);
}

/* Writes what happened to a node of the pool. */
static void node_add(struct buf *out, const struct doc *doc, const char *type)
{
    const char *node = item_text(doc, "node");
    const char *actor = item_text(doc, "actor");
    const char *by = item_text(doc, "by");
    if (strcmp(type, "node-state") == 0) {
        buf_addf(out, "node %s is %s", node, item_text(doc, "state"));
    } else if (strcmp(type, "node-locked") == 0) {
        buf_addf(out, "%s %s node %s", actor, item_true(doc, "locked") ? "locked" : "unlocked",
                 node);
    } else if (strcmp(type, "node-edited") == 0 && item_at(doc, "draining") != NULL) {
        buf_addf(out,
                 item_true(doc, "draining") ? "%s drains node %s" : "%s ended the drain of node %s",
                 actor, node);
    } else if (strcmp(type, "node-edited") == 0) {
        buf_addf(out, "%s changed node %s", actor, node);
    } else if (strcmp(type, "node-leaving") == 0) {
        buf_addf(out, "node %s takes no new tasks: %s", node, item_text(doc, "message"));
        if (by[0] != '\0') {
            buf_addf(out, "; tasks that run there at %s: %s", by, item_text(doc, "busy"));
        }
    }
}

/* Writes how many of the pool's nodes have been replaced. */
static void replacing_add(struct buf *out, const struct doc *doc)
{
    const int64_t at_once = item_number(doc, "at_once", 0);
    const int64_t begun = item_number(doc, "begun", 0);
    const int64_t total = item_number(doc, "total", 0);
    if (at_once == 0) {
        buf_addf(out, "the replacement of nodes ended: %s", item_text(doc, "message"));
    } else if (begun == 0) {
        buf_addf(out, "%s replaces %lld nodes, at most %lld at once", item_text(doc, "actor"),
                 (long long)total, (long long)at_once);
    } else {
        buf_addf(out, "replacement %lld of %lld", (long long)begun, (long long)total);
    }
}

/* Writes one event as a sentence. Writes nothing for an event that is no part of the story, such as the start of a task. */
static void story_add(struct buf *out, const struct doc *doc)
{
    const char *type = item_text(doc, "type");
    if (strncmp(type, "launch-", 7) == 0) {
        launch_add(out, doc, type);
    } else if (strncmp(type, "node-", 5) == 0) {
        node_add(out, doc, type);
    } else if (strcmp(type, "pool-replacing") == 0) {
        replacing_add(out, doc);
    } else if (strcmp(type, "pool-set") == 0) {
        buf_addf(out, "%s made or changed the pool", item_text(doc, "actor"));
    } else if (strncmp(type, "pool-", 5) == 0) {
        buf_add_str(out, item_text(doc, "message"));
    }
}

static void story_print(const struct doc *doc)
{
    struct buf out;
    struct buf told;
    buf_init(&out, LINE_BYTES_MAX);
    buf_init(&told, LINE_BYTES_MAX);
    story_add(&told, doc);
    if (told.len > 0) {
        buf_addf(&out, "%s  ", item_text(doc, "time"));
        text_escape(&out, (struct str){.p = buf_text(&told), .len = told.len});
        buf_add_char(&out, '\n');
        context_out_inert((struct str){.p = buf_text(&out), .len = out.len});
    }
    buf_done(&told);
    buf_done(&out);
}

/* ---- the stream ---- */

static bool on_event_line(void *ctx, struct str line)
{
    struct events *events = ctx;
    struct str value;
    struct str key = str_cut(line, ':', &value);
    if (value.p == NULL) {
        return true;
    }
    value = str_trim(value);
    if (str_is(key, "id")) {
        (void)str_to_u64(value, &events->after);
    } else if (str_is(key, "event") && str_is(value, "reset")) {
        context_say("weir: some events are too old to be shown");
    } else if (str_is(key, "data")) {
        struct doc *doc;
        arena_clear(&events->arena);
        if (doc_json_parse(&events->arena, value, &doc, NULL) != ERR_OK ||
            !list_filter_matches(&events->filter, doc)) {
            return true;
        }
        if (events->json) {
            context_out(value);
            context_out_text("\n");
        } else {
            (events->pool != NULL ? story_print : event_print)(doc);
        }
    }
    return true;
}

static const char *events_path(struct events *events)
{
    struct cli *cli = events->cli;
    struct arena *arena = &cli->arena;
    /* Without a start the server sends only future events. */
    const char *path =
        events->from_now && events->after == 0
            ? "/api/v1/events?"
            : arena_fmt(arena, "/api/v1/events?after=%llu", (unsigned long long)events->after);
    if (events->pool != NULL) {
        return arena_fmt(arena, "%s&pool=%s", path, api_escape(arena, events->pool));
    }
    static const char *const filters[] = {"task", "pool", "type"};
    for (size_t i = 0; i < sizeof filters / sizeof *filters; i++) {
        const char *value = args_text(&cli->args, filters[i]);
        if (value != NULL) {
            path = arena_fmt(arena, "%s&%s=%s", path, filters[i], api_escape(arena, value));
        }
    }
    return arena_fmt(arena, "%s%s", path, events->query);
}

/* Reads events. Without --follow the stream counts as over when no event comes for a moment. */
static enum err events_read(struct events *events, bool follow, struct error *e)
{
    struct http_stream_call call = {
        .call = {.method = "GET",
                 .path = events_path(events),
                 .retry_ms = follow ? args_duration(&events->cli->args, "retry", API_RIDE_MS) : 0},
        .idle_ms = follow ? EVENTS_IDLE_MS : EVENTS_QUIET_MS,
        .on_line = on_event_line,
        .ctx = events,
    };
    struct http_reply reply = {0};
    struct arena arena;
    arena_init(&arena);
    enum err r = http_client_stream(events->cli->client, &call, &arena, &reply, e);
    if (r == ERR_OK && reply.status != 200) {
        r = api_refusal(reply.status, reply.body, e);
    }
    arena_done(&arena);
    return r;
}

static enum err filter_read(struct events *events, struct error *e)
{
    const char *text = events->pool == NULL ? args_text(&events->cli->args, "filter") : NULL;
    const char *path = "?";
    events->query = "";
    if (text == NULL) {
        return ERR_OK;
    }
    const enum err r =
        list_filter_read(&events->cli->arena, &event_list, text, &path, &events->filter, e);
    events->query = path + 1;
    return r;
}

static int events_run(struct cli *cli, const char *pool)
{
    struct error e;
    struct events events = {
        .cli = cli,
        .pool = pool,
        .json = args_has(&cli->args, "json"),
        .after = args_number(&cli->args, "after", 0),
    };
    bool follow = args_has(&cli->args, "follow");
    events.from_now = follow && !args_has(&cli->args, "after");
    enum err r = filter_read(&events, &e);
    r = r != ERR_OK ? r : api_open(cli, &e);
    if (r != ERR_OK) {
        return context_fail(cli, &e);
    }
    arena_init(&events.arena);
    struct wait_line *line = follow ? wait_line_start(&cli->login, 0, NULL) : NULL;
    do {
        r = events_read(&events, follow, &e);
        if (follow && r == ERR_UNREACHABLE) {
            /* A restart of the server breaks the stream. The next stream begins behind the last
             * event. */
            r = api_await(cli, args_duration(&cli->args, "retry", API_RIDE_MS), NULL, &e);
        }
    } while (follow && (r == ERR_OK || r == ERR_TIMEOUT));
    wait_line_free(line);
    arena_done(&events.arena);
    bool quiet = !follow && r == ERR_TIMEOUT;
    return r == ERR_OK || quiet ? EXIT_OK : context_fail(cli, &e);
}

int cmd_events_all(struct cli *cli)
{
    return events_run(cli, NULL);
}

int cmd_events_pool(struct cli *cli)
{
    struct error e;
    struct api_reply reply;
    const char *name = cli->args.words[0];
    const char *path = arena_fmt(&cli->arena, "/pools/%s", api_escape(&cli->arena, name));
    if (api_get(cli, &cli->arena, path, &reply, &e) != ERR_OK) {
        return context_fail(cli, &e); /* there is no such pool */
    }
    return events_run(cli, name);
}
