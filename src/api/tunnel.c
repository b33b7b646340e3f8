/* tunnel.c - see tunnel.h.
 *
 *   tunnel_ask ──order "tunnel"──▶ agent ──POST /agent/tunnels, Upgrade──▶ tunnel_answer ─▶ fn
 *
 * Holds: a tunnel belongs to the node that was asked, is opened once, and its id cannot be guessed. One
 * that is not open after TUNNEL_OPEN_MS fails. SPDX-License-Identifier: Apache-2.0 */
#include "api/tunnel.h"

#include "api/api_internal.h"
#include "api/body.h"
#include "api/call.h"
#include "api/handlers.h"
#include "base/map.h"
#include "base/mem.h"
#include "core/model/names.h"
#include "io/http_upgrade.h"
#include "io/relay.h"

#include <sodium.h>
#include <stdlib.h>

enum {
    TUNNELS_MAX = 4096,
    TUNNELS_NODE_MAX = 256, /* so that one node cannot take them all */
    TUNNEL_OPEN_MS = 15 * 1000,
    TUNNEL_ID_BYTES = AGENT_TUNNEL_ID_LEN / 2,
};

struct tunnels {
    struct api *api;
    struct map *open; /* id -> tunnel, from the order until tunnel_close() */
    bool stopping;
};

struct tunnel {
    struct tunnels *owner;
    char id[AGENT_TUNNEL_ID_LEN + 1];
    node_id node;
    tunnel_fn fn; /* NULL: called already */
    void *ctx;
    struct loop_timer *timer; /* the node must have answered; then: fn is due with `failure` */
    struct http_upgrade *upgrade;
    int fd;
    char early[RELAY_BYTES_MAX / 4];
    size_t early_len;
    struct error failure;
    bool answering; /* 101 is on its way to the node: `upgraded` will come */
    bool closed;    /* the owner is gone; `upgraded` frees the rest */
};

struct tunnels *tunnel_list_new(struct api *api)
{
    struct tunnels *tunnels = xcalloc(1, sizeof *tunnels);
    tunnels->api = api;
    tunnels->open = map_new();
    return tunnels;
}

static void tunnel_free(struct tunnel *tunnel)
{
    loop_timer_free(tunnel->timer);
    free(tunnel);
}

void tunnel_list_free(struct tunnels *tunnels)
{
    if (tunnels != NULL) {
        map_free(tunnels->open);
        free(tunnels);
    }
}

static void tunnel_forget(struct tunnel *tunnel)
{
    (void)map_remove(tunnel->owner->open, tunnel->id, AGENT_TUNNEL_ID_LEN);
}

/* The tunnel will not open. */
static void tunnel_fail(struct tunnel *tunnel, const struct error *failure)
{
    tunnel_fn fn = tunnel->fn;
    void *ctx = tunnel->ctx;
    struct error e = *failure;
    must(fn != NULL);
    tunnel_forget(tunnel);
    tunnel_free(tunnel);
    fn(ctx, &e);
}

void tunnel_list_stop(struct tunnels *tunnels)
{
    size_t cursor = 0;
    struct error e;
    tunnels->stopping = true;
    (void)fail(&e, ERR_BUSY, "the server is stopping");
    for (struct tunnel *tunnel = map_next(tunnels->open, &cursor); tunnel != NULL;
         tunnel = map_next(tunnels->open, &cursor)) {
        if (tunnel->fn != NULL && !tunnel->answering) {
            tunnel_fail(tunnel, &e);
        } else {
            must(tunnel->fn != NULL); /* open ones were closed by their owners, before */
            tunnel_fn fn = tunnel->fn;
            tunnel->fn = NULL;
            tunnel_forget(tunnel);
            tunnel->closed = true;
            fn(tunnel->ctx, &e);
        }
        cursor = 0;
    }
}

static void timer_due(void *ctx)
{
    struct tunnel *tunnel = ctx;
    struct error e;
    (void)fail(&e, ERR_TIMEOUT,
               "the node did not open a connection within %d s; its agent may be of "
               "an older version, or very busy",
               TUNNEL_OPEN_MS / 1000);
    tunnel_fail(tunnel, &e);
}

/* ---- asking ---- */

must_use enum err tunnel_target(const struct core *core, task_id task, int64_t index,
                                struct attempt_key *ret_key, node_id *ret_node, struct error *e)
{
    const struct task *row = query_task(core, task);
    if (row == NULL && task.v > query_task_last(core).v) {
        return fail(e, ERR_NOT_FOUND, "no task %llu", (unsigned long long)task.v);
    }
    if (row == NULL) {
        return fail(e, ERR_CONFLICT, "task %llu has ended", (unsigned long long)task.v);
    }
    if (index >= (int64_t)row->instance_count) {
        return fail(e, ERR_NOT_FOUND, "task %llu has instances 0 to %u, not %lld",
                    (unsigned long long)task.v, row->instance_count - 1, (long long)index);
    }
    const uint32_t first = index < 0 ? 0 : (uint32_t)index;
    const uint32_t last = index < 0 ? row->instance_count - 1 : (uint32_t)index;
    for (uint32_t i = first; i <= last; i++) {
        const struct instance *instance = query_instance(core, task, i);
        if (instance != NULL && instance->state == INSTANCE_RUNNING) {
            *ret_key = (struct attempt_key){.task = task, .index = i, .attempt = instance->attempt};
            *ret_node = instance->node;
            return ERR_OK;
        }
    }
    if (index >= 0) {
        return fail(e, ERR_CONFLICT, "instance %lld of task %llu does not run now",
                    (long long)index, (unsigned long long)task.v);
    }
    return fail(e, ERR_CONFLICT, "task %llu does not run: it is %s", (unsigned long long)task.v,
                names_task_state((enum task_state)row->state));
}

static size_t node_tunnels(const struct tunnels *tunnels, node_id node)
{
    size_t count = 0;
    size_t cursor = 0;
    for (const struct tunnel *tunnel = map_next(tunnels->open, &cursor); tunnel != NULL;
         tunnel = map_next(tunnels->open, &cursor)) {
        count += tunnel->node.v == node.v;
    }
    return count;
}

must_use enum err tunnel_ask(struct api *api, node_id node, struct agent_tunnel *order,
                             tunnel_fn fn, void *ctx, struct tunnel **ret, struct error *e)
{
    struct tunnels *tunnels = api->tunnels;
    unsigned char random[TUNNEL_ID_BYTES];
    if (tunnels->stopping || map_count(tunnels->open) >= TUNNELS_MAX ||
        node_tunnels(tunnels, node) >= TUNNELS_NODE_MAX) {
        return fail(e, ERR_BUSY,
                    tunnels->stopping ? "the server is stopping"
                                      : "too many connections to nodes are open");
    }
    struct tunnel *tunnel = xcalloc(1, sizeof *tunnel);
    randombytes_buf(random, sizeof random);
    str_hex(tunnel->id, random, sizeof random);
    tunnel->owner = tunnels;
    tunnel->node = node;
    tunnel->fd = -1;
    tunnel->fn = fn;
    tunnel->ctx = ctx;
    tunnel->timer = loop_timer_new(api->o.loop, timer_due, tunnel);
    order->id = tunnel->id;
    struct agent_order message = {.type = AGENT_TUNNEL, .tunnel = *order};
    const struct core *core = api->o.host->core(api->o.host->ctx);
    if (core == NULL ||
        !api->o.host->agent_order(api->o.host->ctx, query_node_name(core, node), &message)) {
        tunnel_free(tunnel);
        return fail(e, ERR_BUSY, "the node is not connected now");
    }
    (void)map_put(tunnels->open, tunnel->id, AGENT_TUNNEL_ID_LEN, tunnel);
    loop_timer_set(tunnel->timer, loop_now_ms(api->o.loop) + TUNNEL_OPEN_MS);
    *ret = tunnel;
    return ERR_OK;
}

void tunnel_close(struct tunnel *tunnel)
{
    if (tunnel == NULL) {
        return;
    }
    tunnel_forget(tunnel);
    if (tunnel->answering) {
        tunnel->closed = true;
        tunnel->fn = NULL;
        loop_timer_off(tunnel->timer);
        return;
    }
    if (tunnel->upgrade != NULL) {
        http_upgrade_end(tunnel->upgrade);
    }
    tunnel_free(tunnel);
}

int tunnel_fd(const struct tunnel *tunnel)
{
    must(tunnel->fd >= 0);
    return tunnel->fd;
}

struct str tunnel_early(const struct tunnel *tunnel)
{
    return (struct str){tunnel->early, tunnel->early_len};
}

/* ---- the node's answer ---- */

static void upgraded(void *ctx, struct http_upgrade *upgrade, int fd, struct str early)
{
    struct tunnel *tunnel = ctx;
    struct error e;
    tunnel->answering = false;
    if (tunnel->closed) {
        if (upgrade != NULL) {
            http_upgrade_end(upgrade);
        }
        tunnel_free(tunnel);
        return;
    }
    if (upgrade == NULL || early.len > sizeof tunnel->early) {
        if (upgrade != NULL) {
            http_upgrade_end(upgrade);
        }
        (void)fail(&e, ERR_UNREACHABLE, "the connection from the node broke off");
        tunnel_fail(tunnel, &e);
        return;
    }
    tunnel->upgrade = upgrade;
    tunnel->fd = fd;
    memcpy(tunnel->early, early.p, early.len);
    tunnel->early_len = early.len;
    tunnel_fn fn = tunnel->fn;
    tunnel->fn = NULL;
    loop_timer_off(tunnel->timer);
    fn(tunnel->ctx, NULL);
}

/* POST /agent/tunnels?tunnel=ID: with an upgrade, the tunnel; with {"failure":…}, why there is none. */
void tunnel_answer(struct call *call)
{
    static const char *const fields[] = {"failure", NULL};
    const struct doc *body;
    const char *failure = NULL;
    const struct node *node = query_node_named(call_core(call), call->name);
    const char *id = call_query(call, "tunnel");
    struct tunnel *tunnel = id != NULL && strlen(id) == AGENT_TUNNEL_ID_LEN
                                ? map_get(call->api->tunnels->open, id, AGENT_TUNNEL_ID_LEN)
                                : NULL;
    if (tunnel == NULL || node == NULL || tunnel->node.v != node->id.v || tunnel->fn == NULL ||
        tunnel->answering) {
        call_failf(call, ERR_NOT_FOUND, "", "the server waits for no such tunnel of this node");
        return;
    }
    if (!body_object(call, fields, &body) || !body_text(call, body, "failure", &failure)) {
        return;
    }
    if (failure != NULL) {
        struct error e;
        (void)fail(&e, ERR_CONFLICT, "%s", failure);
        tunnel_fail(tunnel, &e);
        buf_clear(&call->out);
        buf_add_str(&call->out, "{}");
        call_answer_json(call, 200);
    } else if (!http_upgrade_asked(call->request, "weir-tunnel")) {
        call_failf(call, ERR_INVALID, "", "a tunnel needs the header 'Upgrade: weir-tunnel'");
    } else {
        struct http_request *request = call->request;
        tunnel->answering = true;
        api_count_answer(call->api, 101);
        call_done(call);
        http_upgrade_answer(request, "weir-tunnel", upgraded, tunnel);
    }
}
