/* agents.c - the life of a link between the server and a node's agent.
 *
 *   hello ─join recorded, on disk─▶ connected ──stream breaks, or 3 heartbeats unheard──▶ silent
 *            ▲                                                                              │
 *            └──────────────────────── hello ───────────────────── lost_after: lost ◀───────┘
 *
 * N1 an order leaves only after the commit of the facts it rests on. N2 a node has at most one stream, the newest; the
 * end of an older stream says nothing about the node. N3 while the disk refuses writes, nothing is recorded about links;
 * agents_healed() records the changes when the disk takes writes again.
 * SPDX-License-Identifier: Apache-2.0 */
#include "server/agents.h"

#include "base/log.h"
#include "io/http_request.h"
#include "io/http_stream.h"
#include "server/agents_internal.h"
#include "server/crash.h"
#include "wire/attempt_key.h"

enum { LOST_RETRY_MS = 1000, GREETING_BYTES_MAX = LINK_BYTES_MAX, LOSSES_NAMED_MAX = 16 };

struct agents *agents_new(const struct agents_options *options)
{
    struct agents *agents = xcalloc(1, sizeof *agents);
    agents->o = *options;
    agents->links = map_new();
    agents->uses = use_table_new();
    arena_init(&agents->arena);
    return agents;
}

void agents_free(struct agents *agents)
{
    if (agents == NULL) {
        return;
    }
    size_t cursor = 0;
    struct agent_link *link;
    while ((link = map_next(agents->links, &cursor)) != NULL) {
        if (link->stream != NULL) {
            http_stream_end(link->stream);
        }
        loop_timer_free(link->timer);
        buf_done(&link->out);
        free(link);
    }
    map_free(agents->links);
    use_table_free(agents->uses);
    arena_done(&agents->arena);
    free(agents);
}

struct agent_link *agents_link_of(const struct agents *agents, node_id node)
{
    return map_get(agents->links, &node.v, sizeof node.v);
}

/* Records a fact about a node that no request asked for. */
static void record(struct agents *agents, enum input_type type, node_id node)
{
    struct facts facts;
    if (ledger_state(agents->o.ledger) != LEDGER_OPEN) {
        return;
    }
    struct input in = {.type = type, .actor = "server", .cause = "", .node = {.node = node}};
    arena_clear(&agents->arena);
    fact_list_init(&facts, &agents->arena);
    (void)ledger_input(agents->o.ledger, &in, &facts);
}

static void link_silent(struct agent_link *link)
{
    link->stream = NULL;
    link->owner->connected--;
    record(link->owner, INPUT_NODE_SILENT, link->node);
    loop_timer_set(link->timer, loop_now_ms(link->owner->o.loop) + link->owner->o.lost_after_ms);
}

void agents_link_cut(struct agent_link *link, const char *why)
{
    http_stream_end(link->stream);
    log_info("agent disconnected", kv_u64("node", link->node.v), kv_str("why", why));
    link_silent(link);
}

static void stream_gone(void *ctx)
{
    struct agent_link *link = ctx;
    log_info("agent disconnected", kv_u64("node", link->node.v),
             kv_str("why", "connection closed"));
    link_silent(link);
}

/* False: the agent does not read its orders, and its stream was ended. */
static bool link_write(struct agent_link *link, struct str text)
{
    if (http_stream_write(link->stream, text)) {
        return true;
    }
    agents_link_cut(link, "the agent does not read its orders");
    return false;
}

static void heartbeat(struct agent_link *link)
{
    struct agents *agents = link->owner;
    int64_t now_ms = loop_now_ms(agents->o.loop);
    if (now_ms - link->heard_ms > HEARTBEATS_MISSED_MAX * agents->o.heartbeat_ms) {
        agents_link_cut(link, "nothing was heard from the agent");
        return;
    }
    loop_timer_set(link->timer, now_ms + agents->o.heartbeat_ms);
    if (ledger_core(agents->o.ledger) == NULL) {
        return;
    }
    buf_clear(&link->out);
    agents_orders_ping(agents, link, &link->out);
    (void)link_write(link, (struct str){link->out.data, link->out.len});
    buf_clear(&link->out);
}

static void timer_due(void *ctx)
{
    struct agent_link *link = ctx;
    struct agents *agents = link->owner;
    if (link->stream != NULL) {
        heartbeat(link);
    } else if (ledger_state(agents->o.ledger) == LEDGER_OPEN) {
        record(agents, INPUT_NODE_LOST, link->node);
    } else {
        loop_timer_set(link->timer, loop_now_ms(agents->o.loop) + LOST_RETRY_MS);
    }
}

static struct agent_link *link_make(struct agents *agents, node_id node)
{
    struct agent_link *link = agents_link_of(agents, node);
    if (link == NULL) {
        link = xcalloc(1, sizeof *link);
        link->owner = agents;
        link->node = node;
        link->timer = loop_timer_new(agents->o.loop, timer_due, link);
        buf_init(&link->out, LINK_BYTES_MAX);
        (void)map_put(agents->links, &node.v, sizeof node.v, link);
    }
    return link;
}

void agents_start(struct agents *agents)
{
    node_id id = {0};
    const struct node *node;
    while ((node = query_node_next(ledger_core(agents->o.ledger), id)) != NULL) {
        id = node->id;
        if (node->state != NODE_UP && node->state != NODE_SILENT) {
            continue;
        }
        struct agent_link *link = link_make(agents, id);
        loop_timer_set(link->timer, loop_now_ms(agents->o.loop) + agents->o.lost_after_ms);
        if (node->state == NODE_UP) {
            record(agents, INPUT_NODE_SILENT, id);
        }
    }
}

/* ---- hello ---- */

/* The result of a hello, kept until its facts are on disk. The text of the greeting is in
 * call->out. */
struct greeting {
    struct agents *agents;
    node_id node;
    uint32_t incarnation;
    /* the hello only ends the attempts of a dead supervisor, and the node stays silent */
    bool closing;
};

/* Prepares the link for a new stream of the node. The old stream ends here, so that its end does
 * not make the node silent. */
static void link_renew(struct agent_link *link)
{
    struct agents *agents = link->owner;
    if (link->stream != NULL) {
        http_stream_end(link->stream);
        link->stream = NULL;
        agents->connected--;
    }
    loop_timer_set(link->timer, loop_now_ms(agents->o.loop) + agents->o.lost_after_ms);
}

static void greet(struct call *call)
{
    const struct greeting *greeting = call->data;
    struct agents *agents = greeting->agents;
    const bool closing = greeting->closing;
    struct agent_link *link = link_make(agents, greeting->node);
    link_renew(link);
    struct buf text = call->out;
    struct http_request *request = call->request;
    buf_init(&call->out, 0);
    call_done(call);
    link->incarnation = greeting->incarnation;
    link->heard_ms = loop_now_ms(agents->o.loop);
    link->stream =
        http_stream_begin(request, 200, "application/x-ndjson", LINK_BYTES_MAX, stream_gone, link);
    agents->connected++;
    loop_timer_set(link->timer, loop_now_ms(agents->o.loop) + agents->o.heartbeat_ms);
    (void)link_write(link, (struct str){text.data, text.len});
    buf_done(&text);
    log_info("agent connected",
             kv_str("node", query_node_name(ledger_core(agents->o.ledger), link->node)),
             kv_u64("incarnation", link->incarnation));
    const struct node *node = query_node(ledger_core(agents->o.ledger), link->node);
    if (!closing && link->stream != NULL && (node == NULL || node->state != NODE_UP)) {
        agents_link_cut(link, "the node's state changed while the stream began");
    }
}

static bool hello_read(struct call *call, struct agent_hello *ret)
{
    struct error e;
    if (agent_hello_decode(http_request_body(call->request), call_arena(call), ret, &e) != ERR_OK) {
        call_fail(call, &e);
        return false;
    }
    if (strcmp(ret->node.name, call->name) != 0) {
        call_failf(call, ERR_DENIED, "name", "this credential is for node '%s', not '%s'",
                   call->name, ret->node.name);
        return false;
    }
    /* A node with a token for pool `default` whose agent names no pool belongs to the pool of its labels. */
    const bool chosen = ret->node.pool[0] == '\0' && strcmp(call->pool, POOL_DEFAULT_NAME) == 0;
    if (call->pool[0] != '\0' && ret->node.pool[0] == '\0' && !chosen) {
        ret->node.pool = call->pool;
    }
    if (call->pool[0] != '\0' && !chosen && strcmp(ret->node.pool, call->pool) != 0) {
        call_failf(call, ERR_DENIED, "pool", "this credential is for pool '%s', not '%s'",
                   call->pool, ret->node.pool);
        return false;
    }
    if (ret->protocol_min > AGENT_PROTOCOL_MAX || ret->protocol_max < AGENT_PROTOCOL_MIN) {
        call_conflict(call, "protocol",
                      arena_fmt(call_arena(call),
                                "the agent speaks protocol %u to %u, this server %d to %d",
                                ret->protocol_min, ret->protocol_max, AGENT_PROTOCOL_MIN,
                                AGENT_PROTOCOL_MAX));
        return false;
    }
    return true;
}

void agents_stream(struct agents *agents, struct call *call)
{
    struct agent_hello hello;
    struct facts facts;
    if (!hello_read(call, &hello)) {
        return;
    }
    agents_known_compare(agents, &hello);
    struct input in = {.type = INPUT_NODE_JOIN,
                       .node = {.spec = &hello.node, .closing = hello.closing}};
    if (!call_input(call, &in, &facts)) {
        return;
    }
    const struct node *node = query_node_named(ledger_core(agents->o.ledger), call->name);
    must(node != NULL);
    struct greeting *greeting = arena_new(call_arena(call), struct greeting, 1);
    *greeting = (struct greeting){.agents = agents,
                                  .node = node->id,
                                  .incarnation = node->incarnation,
                                  .closing = hello.closing};
    link_renew(link_make(agents, node->id));
    buf_done(&call->out);
    buf_init(&call->out, GREETING_BYTES_MAX);
    agents_orders_welcome(agents, &hello, node, &call->out);
    agents_orders_reconcile(agents, &hello, greeting->node, &call->out);
    call->data = greeting;
    call_when_stored(call, greet);
}

bool agents_connected(const struct agents *agents, const char *node)
{
    const struct node *row = query_node_named(ledger_core(agents->o.ledger), node);
    const struct agent_link *link = row != NULL ? agents_link_of(agents, row->id) : NULL;
    return link != NULL && link->stream != NULL;
}

/* ---- orders ---- */

bool agents_order(struct agents *agents, const char *node, struct agent_order *order)
{
    const struct core *core = ledger_core(agents->o.ledger);
    const struct node *row = core == NULL ? NULL : query_node_named(core, node);
    struct agent_link *link = row != NULL ? agents_link_of(agents, row->id) : NULL;
    if (link == NULL || link->stream == NULL) {
        return false;
    }
    struct buf out;
    buf_init(&out, LINK_BYTES_MAX);
    agents_orders_add(agents, order, link->incarnation, &out);
    const bool sent = link_write(link, (struct str){out.data, out.len});
    buf_done(&out);
    return sent;
}

static void effect_gather(struct agents *agents, const struct core *core,
                          const struct effect *effect)
{
    if (effect->type != EFFECT_START && effect->type != EFFECT_STOP) {
        return; /* providers.c gives these orders */
    }
    struct agent_link *link = agents_link_of(agents, effect->node);
    if (link == NULL || link->stream == NULL || link->incarnation != effect->incarnation) {
        return;
    }
    if (!link->dirty) {
        link->dirty = true;
        link->dirty_next = agents->dirty;
        agents->dirty = link;
        buf_clear(&link->out);
    }
    agents_orders_effect(agents, core, effect, &link->out);
}

/* Makes one write per node, whatever the number of orders. */
static void dirty_flush(struct agents *agents)
{
    while (agents->dirty != NULL) {
        struct agent_link *link = agents->dirty;
        agents->dirty = link->dirty_next;
        link->dirty = false;
        if (link->out.len > 0 && link->stream != NULL) {
            (void)link_write(link, (struct str){link->out.data, link->out.len});
        }
        buf_done(&link->out);
        buf_init(&link->out, LINK_BYTES_MAX);
    }
}

static void link_cut_node(struct agents *agents, node_id node, const char *why)
{
    struct agent_link *link = agents_link_of(agents, node);
    if (link != NULL && link->stream != NULL) {
        agents_link_cut(link, why);
    }
}

/* Ends the stream of each node that the batch removed. */
static void cut_removed(struct agents *agents, const struct batch *batch)
{
    for (size_t i = 0; i < batch->facts.count; i++) {
        struct fact fact;
        struct error e;
        if (batch->facts.at[i].type != FACT_NODE_STATE) {
            continue;
        }
        arena_clear(&agents->arena);
        must(fact_decode(batch->facts.at[i].body, &agents->arena, &fact, &e) == ERR_OK);
        if (fact.node_state.state == NODE_REMOVED) {
            link_cut_node(agents, fact.node_state.node, "it was removed");
        }
    }
}

/* Names the tasks whose attempts were lost with their node or supervisor: one of them may be the
 * cause. */
static void losses_say(struct agents *agents, const struct batch *batch)
{
    uint64_t count = 0;
    char tasks[LOSSES_NAMED_MAX * 24] = "";
    size_t len = 0;
    for (size_t i = 0; i < batch->facts.count; i++) {
        struct fact fact;
        struct error e;
        if (batch->facts.at[i].type != FACT_ATTEMPT_ENDED) {
            continue;
        }
        arena_clear(&agents->arena);
        must(fact_decode(batch->facts.at[i].body, &agents->arena, &fact, &e) == ERR_OK);
        if (fact.attempt_ended.report.type != REPORT_LOST) {
            continue;
        }
        if (count++ < LOSSES_NAMED_MAX) {
            char text[ATTEMPT_KEY_TEXT_MAX];
            (void)attempt_key_text(fact.attempt_ended.report.key, text);
            int more = snprintf(tasks + len, sizeof tasks - len, "%s%s", len == 0 ? "" : " ", text);
            len += more > 0 ? (size_t)more : 0;
        }
    }
    if (count > 0) {
        log_warn("attempts were lost with their node or supervisor", kv_u64("attempts", count),
                 kv_str("first", tasks));
    }
}

static void cut_revoked(struct agents *agents, const struct core *core, const struct batch *batch)
{
    for (size_t i = 0; i < batch->tokens.count; i++) {
        const struct store_token *token = &batch->tokens.at[i];
        if (!token->revoked || strcmp(token->scope, "node") != 0) {
            continue;
        }
        const struct node *node = query_node_named(core, token->name);
        if (node != NULL) {
            link_cut_node(agents, node->id, "the credential of the node was revoked");
        }
    }
}

void agents_committed(struct agents *agents, const struct batch *batch)
{
    const struct core *core = ledger_core(agents->o.ledger);
    for (size_t i = 0; i < batch->effects.count; i++) {
        effect_gather(agents, core, &batch->effects.at[i]);
    }
    crash_point_order("order-before-wire", batch);
    dirty_flush(agents);
    cut_removed(agents, batch);
    losses_say(agents, batch);
    cut_revoked(agents, core, batch);
}

void agents_healed(struct agents *agents)
{
    const struct core *core = ledger_core(agents->o.ledger);
    size_t cursor = 0;
    struct agent_link *link;
    while ((link = map_next(agents->links, &cursor)) != NULL) {
        const struct node *node = query_node(core, link->node);
        if (link->stream == NULL) {
            record(agents, INPUT_NODE_SILENT, link->node);
        } else if (node == NULL || node->incarnation != link->incarnation) {
            agents_link_cut(link, "the server no longer knows the node");
        } else {
            struct effects held = {0};
            core_orders_for(core, link->node, &held);
            for (size_t i = 0; i < held.count; i++) {
                effect_gather(agents, core, &held.at[i]);
            }
            effect_done(&held);
        }
    }
    dirty_flush(agents);
}

void agents_bye(struct agents *agents, const char *why)
{
    size_t cursor = 0;
    struct agent_link *link;
    while ((link = map_next(agents->links, &cursor)) != NULL) {
        if (link->stream == NULL || ledger_core(agents->o.ledger) == NULL) {
            continue;
        }
        buf_clear(&link->out);
        agents_orders_bye(agents, link, why, &link->out);
        bool told = http_stream_write(link->stream, (struct str){link->out.data, link->out.len});
        (void)told; /* an agent that does not read will see the connection close */
    }
}

const struct use_table *agents_uses(const struct agents *agents)
{
    return agents->uses;
}

void agents_numbers(const struct agents *agents, struct host_numbers *ret)
{
    ret->agents_connected = agents->connected;
    ret->reports = agents->reports;
}
