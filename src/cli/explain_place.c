/* explain_place.c - see explain_place.h. The answer is put together here from the objects of the API and the first
 * page of the pool's queue. SPDX-License-Identifier: Apache-2.0 */
#include "cli/explain_place.h"

#include "base/json_out.h"
#include "cli/api.h"
#include "cli/item.h"
#include "cli/text.h"

#include <string.h>

enum {
    PLACE_TEXT_MAX = 4 << 20,
    QUEUE_LOOK = 1000,
    REASONS_MAX = 64,
    RUNS_SHOWN = 20,
    LABEL_COLUMNS = 10, /* before the words of a line */
};

/* Waiting tasks that give the same reason. */
struct wait_reason {
    const char *code;
    const char *message; /* of the first task */
    const char *first;   /* its number */
    size_t tasks;
};

struct place {
    struct cli *cli;
    const struct doc *node; /* NULL: there is none of this name */
    const struct doc *pool; /* likewise */
    const struct doc *queue;
    struct wait_reason reasons[REASONS_MAX];
    size_t reason_count;
    size_t waiting; /* tasks looked at */
    struct buf out;
};

static void line(struct place *place, const char *label)
{
    buf_addf(&place->out, "  %-*s", LABEL_COLUMNS - 2, label);
}

/* ---- why tasks wait ---- */

static void reason_count(struct place *place, const struct doc *item)
{
    const char *code = item_text(item, "reason.code");
    size_t i = 0;
    while (i < place->reason_count && strcmp(place->reasons[i].code, code) != 0) {
        i++;
    }
    if (i == REASONS_MAX) {
        return;
    }
    if (i == place->reason_count) {
        place->reasons[i] = (struct wait_reason){.code = code,
                                                 .message = item_text(item, "reason.message"),
                                                 .first = item_text(item, "id")};
        place->reason_count++;
    }
    place->reasons[i].tasks++;
}

static enum err queue_look(struct place *place, const char *pool, struct error *e)
{
    struct cli *cli = place->cli;
    struct api_reply reply;
    enum err r = api_get(cli, &cli->arena,
                         arena_fmt(&cli->arena, "/queue?limit=%d&pool=%s", QUEUE_LOOK,
                                   api_escape(&cli->arena, pool)),
                         &reply, e);
    if (r != ERR_OK) {
        return r;
    }
    place->queue = reply.doc;
    const struct doc *items = item_at(reply.doc, "items");
    for (const struct doc *d = items != NULL ? items->first : NULL; d != NULL; d = d->next) {
        reason_count(place, d);
        place->waiting++;
    }
    return ERR_OK;
}

static void reasons_add(struct place *place)
{
    const int64_t total = item_number(place->queue, "total", (int64_t)place->waiting);
    line(place, "waiting");
    if (place->waiting == 0) {
        buf_add_str(&place->out, "no task\n");
        return;
    }
    text_thousands(&place->out, (uint64_t)total);
    buf_addf(&place->out, " task%s%s\n", total == 1 ? "" : "s",
             (size_t)total > place->waiting ? "; the reasons are those of the first 1,000" : "");
    for (size_t i = 0; i < place->reason_count; i++) {
        const struct wait_reason *reason = &place->reasons[i];
        line(place, "");
        buf_addf(&place->out, "%zu %s: task %s: %s\n", reason->tasks,
                 reason->code[0] != '\0' ? reason->code : "(no reason yet)", reason->first,
                 reason->message);
    }
}

/* ---- a node ---- */

static void node_state_add(struct place *place)
{
    const struct doc *node = place->node;
    const char *name = item_text(node, "name");
    const char *state = item_text(node, "state");
    line(place, "state");
    if (strcmp(state, "up") != 0) {
        buf_addf(&place->out,
                 "%s: starts nothing; start `weir agent` there, or forget the node with `weir node "
                 "remove %s`\n",
                 state, name);
    } else if (item_true(node, "draining")) {
        buf_addf(&place->out,
                 "draining: runs what it has and starts nothing; `weir node resume %s` ends that\n",
                 name);
    } else if (item_true(place->pool, "paused")) {
        buf_addf(&place->out,
                 "up, but its pool is paused and starts nothing; `weir pool resume %s` ends that\n",
                 item_text(node, "pool"));
    } else {
        buf_add_str(&place->out, "up: takes tasks\n");
    }
}

static void node_free_add(struct place *place)
{
    const struct doc *resources = item_at(place->node, "resources");
    bool any = false;
    line(place, "free");
    for (const struct doc *d = resources != NULL ? resources->first : NULL; d != NULL;
         d = d->next) {
        const char *total = item_text(d, "total");
        if (strcmp(total, "0") != 0 && !str_is(d->key, "memory")) {
            buf_addf(&place->out, "%s%s of %s %.*s", any ? ", " : "", item_text(d, "free"), total,
                     (int)d->key.len, d->key.p);
            any = true;
        }
    }
    buf_add_str(&place->out, any ? "\n" : "nothing that is counted\n");
}

static void node_runs_add(struct place *place)
{
    const struct doc *tasks = item_at(place->node, "tasks");
    size_t count = 0;
    line(place, "runs");
    for (const struct doc *d = tasks != NULL ? tasks->first : NULL; d != NULL; d = d->next) {
        if (count < RUNS_SHOWN) {
            buf_addf(&place->out, "%s%.*s", count == 0 ? "" : ", ", (int)d->text.len, d->text.p);
        }
        count++;
    }
    if (count > RUNS_SHOWN) {
        buf_addf(&place->out, " and %zu more", count - RUNS_SHOWN);
    }
    buf_add_str(&place->out, count == 0 ? "nothing\n" : "\n");
}

static void node_add(struct place *place)
{
    buf_addf(&place->out, "node %s in pool %s\n", item_text(place->node, "name"),
             item_text(place->node, "pool"));
    node_state_add(place);
    node_free_add(place);
    node_runs_add(place);
}

/* ---- a pool ---- */

/* Writes why the pool has no node that takes tasks. Advises `weir agent` only for a pool without a
 * provider, because in other pools the provider brings nodes up. For a pool with a provider the
 * reason is that of the pool. */
static void pool_empty_add(struct place *place, const char *name)
{
    const struct doc *pool = place->pool;
    const char *provider = item_text(pool, "provider.type");
    const bool provided = provider[0] != '\0' && strcmp(provider, "static") != 0;
    if (provided && item_number(pool, "nodes.up", 0) == 0) {
        buf_addf(&place->out, "has no node that is up: %s\n", item_text(pool, "reason"));
    } else if (item_number(pool, "nodes.total", 0) == 0) {
        buf_addf(&place->out, "has no node: `weir agent --pool %s` on a machine brings one\n",
                 name);
    } else if (item_number(pool, "nodes.up", 0) == 0) {
        buf_add_str(&place->out, "no node takes tasks: see the nodes\n");
    } else {
        buf_add_str(&place->out, "takes tasks\n");
    }
}

static void pool_state_add(struct place *place)
{
    const struct doc *pool = place->pool;
    const char *name = item_text(pool, "name");
    const char *state = item_text(pool, "state");
    line(place, "state");
    if (strcmp(state, "pending-delete") == 0) {
        buf_addf(&place->out, "a user deleted the pool; `weir pool restore %s` brings it back\n",
                 name);
    } else if (strcmp(state, "closed") == 0 || strcmp(state, "closing") == 0) {
        buf_addf(&place->out, "closed: starts nothing; `weir pool restore %s` opens it again\n",
                 name);
    } else if (item_true(pool, "paused")) {
        buf_addf(&place->out, "paused: starts nothing; `weir pool resume %s` ends that\n", name);
    } else {
        pool_empty_add(place, name);
    }
}

static void pool_keeps_add(struct place *place)
{
    const struct doc *kept = item_at(place->pool, "reservations");
    bool any = false;
    for (const struct doc *d = kept != NULL ? kept->first : NULL; d != NULL; d = d->next) {
        if (!any) {
            line(place, "keeps");
        }
        buf_addf(&place->out, "%stask %s", any ? ", " : "places for ", item_text(d, "task"));
        any = true;
    }
    buf_add_str(&place->out, any ? "\n" : "");
}

static void pool_add(struct place *place)
{
    const struct doc *pool = place->pool;
    buf_addf(&place->out, "pool %s\n", item_text(pool, "name"));
    pool_state_add(place);
    line(place, "nodes");
    buf_addf(&place->out, "%s up, %s silent, %s lost", item_text(pool, "nodes.up"),
             item_text(pool, "nodes.silent"), item_text(pool, "nodes.lost"));
    const int64_t draining = item_number(pool, "nodes.draining", 0);
    if (draining > 0) {
        buf_addf(&place->out, "; %lld draining", (long long)draining);
    }
    buf_add_str(&place->out, "\n");
    line(place, "slots");
    buf_addf(&place->out, "%s of %s free\n", item_text(pool, "slots.free"),
             item_text(pool, "slots.total"));
    line(place, "running");
    const int64_t running = item_number(pool, "tasks.running", 0);
    buf_addf(&place->out, "%lld task%s\n", (long long)running, running == 1 ? "" : "s");
    pool_keeps_add(place);
}

/* ---- both ---- */

static void object_json(struct json_out *j, const char *key, const struct doc *doc)
{
    json_out_key(j, key);
    if (doc == NULL) {
        json_out_null(j);
        return;
    }
    struct buf text;
    buf_init(&text, PLACE_TEXT_MAX);
    item_json(&text, doc);
    json_out_raw(j, (struct str){.p = buf_text(&text), .len = text.len});
    buf_done(&text);
}

static void place_json(struct place *place)
{
    struct json_out j;
    json_out_init(&j, &place->out);
    json_out_object(&j);
    object_json(&j, "node", place->node);
    object_json(&j, "pool", place->pool);
    json_out_put(&j, "waiting:%ld,reasons:[",
                 (long)item_number(place->queue, "total", (int64_t)place->waiting));
    for (size_t i = 0; i < place->reason_count; i++) {
        const struct wait_reason *reason = &place->reasons[i];
        json_out_put(&j, "{code:%s,tasks:%lu,first:%s,message:%s}", reason->code,
                     (unsigned long)reason->tasks, reason->first, reason->message);
    }
    json_out_end(&j);
    json_out_end(&j);
    buf_add_char(&place->out, '\n');
}

/* *ret NULL: there is no such object. */
static enum err object_get(struct cli *cli, const char *kind, const char *name,
                           const struct doc **ret, struct error *e)
{
    struct api_reply reply;
    enum err r =
        api_get(cli, &cli->arena,
                arena_fmt(&cli->arena, "/%s/%s", kind, api_escape(&cli->arena, name)), &reply, e);
    *ret = r == ERR_OK ? reply.doc : NULL;
    return r == ERR_NOT_FOUND ? ERR_OK : r;
}

static enum err place_find(struct place *place, const char *name, bool *ret_named_pool,
                           struct error *e)
{
    struct cli *cli = place->cli;
    enum err r = object_get(cli, "nodes", name, &place->node, e);
    if (r == ERR_OK) {
        r = object_get(cli, "pools", name, &place->pool, e);
    }
    *ret_named_pool = r == ERR_OK && place->pool != NULL;
    if (r == ERR_OK && place->node == NULL && place->pool == NULL) {
        return fail(e, ERR_NOT_FOUND,
                    "no task, node or pool is called '%.60s'; `weir node list` and `weir pool "
                    "list` name them",
                    name);
    }
    if (r == ERR_OK && place->pool == NULL) {
        r = object_get(cli, "pools", item_text(place->node, "pool"), &place->pool, e);
    }
    return r == ERR_OK ? queue_look(place, item_text(place->pool, "name"), e) : r;
}

int explain_place(struct cli *cli, const char *name)
{
    struct error e;
    struct place place = {.cli = cli};
    bool named_pool;
    if (args_has(&cli->args, "watch")) {
        (void)fail(&e, ERR_USAGE, "--watch is for a task; '%.60s' is none", name);
        return context_fail(cli, &e);
    }
    if (place_find(&place, name, &named_pool, &e) != ERR_OK) {
        return context_fail(cli, &e);
    }
    buf_init(&place.out, PLACE_TEXT_MAX);
    if (args_has(&cli->args, "json")) {
        place_json(&place);
        context_out((struct str){.p = buf_text(&place.out), .len = place.out.len});
    } else {
        if (place.node != NULL) {
            node_add(&place);
        }
        if (named_pool) {
            pool_add(&place);
        }
        reasons_add(&place);
        context_out_wrapped(cli, (struct str){.p = buf_text(&place.out), .len = place.out.len},
                            LABEL_COLUMNS);
    }
    buf_done(&place.out);
    return EXIT_OK;
}
