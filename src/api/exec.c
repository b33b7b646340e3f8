/* exec.c - POST /tasks/{id}/exec: runs a program inside a running attempt, or attaches to the terminal
 * of a shell task. The answer is 101, and then the frames of wire/console.h go both ways: the server
 * carries them and does not look at them. Every session leaves two lines in the log.
 * SPDX-License-Identifier: Apache-2.0 */
#include "api/api_internal.h"
#include "api/body.h"
#include "api/call.h"
#include "api/handlers.h"
#include "api/tunnel.h"
#include "base/log.h"
#include "base/mem.h"
#include "io/http_request.h"
#include "io/http_upgrade.h"
#include "io/relay.h"
#include "wire/attempt_key.h"

#include <stdlib.h>

#define EXEC_PROTOCOL "weir-console"

struct exec_session {
    struct token_use use;
    struct api *api;
    struct call *call; /* while it is parked; then NULL */
    struct tunnel *tunnel;
    struct http_upgrade *client;
    struct relay *relay;
    bool answering; /* 101 is on its way to the client */
    bool cut;
    char key[ATTEMPT_KEY_TEXT_MAX];
    char actor[ACTOR_LEN_MAX + 1];
    const char *what;
    int64_t began_ms;
};

static void session_end(struct exec_session *session)
{
    if (session->relay != NULL) {
        log_info("session ended", kv_str("attempt", session->key), kv_str("actor", session->actor),
                 kv_u64("to_task_bytes", relay_bytes(session->relay, 0)),
                 kv_u64("from_task_bytes", relay_bytes(session->relay, 1)),
                 kv_u64("ms", (uint64_t)(loop_now_ms(session->api->o.loop) - session->began_ms)));
    }
    relay_free(session->relay);
    tunnel_close(session->tunnel);
    if (session->client != NULL) {
        http_upgrade_end(session->client);
    }
    api_token_end(&session->use);
    free(session);
}

static void session_over(void *ctx)
{
    session_end(ctx);
}

static void client_upgraded(void *ctx, struct http_upgrade *upgrade, int fd, struct str early)
{
    struct exec_session *session = ctx;
    session->answering = false;
    session->client = upgrade;
    if (upgrade == NULL || session->cut || early.len > RELAY_BYTES_MAX) {
        session_end(session);
        return;
    }
    const struct relay_end ends[2] = {{fd, early},
                                      {tunnel_fd(session->tunnel), tunnel_early(session->tunnel)}};
    session->relay = relay_new(session->api->o.loop, ends, session_over, session);
}

/* The tunnel is open, or will not open. */
static void tunnel_told(void *ctx, const struct error *failure)
{
    struct exec_session *session = ctx;
    struct call *call = steal(session->call);
    call_resume(call);
    if (failure != NULL) {
        session->tunnel = NULL;
        session_end(session);
        call_fail(call, failure);
        return;
    }
    struct http_request *request = call->request;
    log_info("session begins", kv_str("attempt", session->key), kv_str("actor", session->actor),
             kv_str("what", session->what), kv_str("peer", http_request_peer(request)));
    api_count_answer(call->api, 101);
    call_done(call);
    session->answering = true;
    http_upgrade_answer(request, EXEC_PROTOCOL, client_upgraded, session);
}

static void caller_gone(struct call *call, void *ctx)
{
    (void)call;
    session_end(ctx);
}

static void session_cut(struct token_use *use)
{
    struct exec_session *session = (struct exec_session *)use;
    struct error e;
    if (session->answering) {
        session->cut = true;
        LIST_REMOVE(use, link);
        LIST_INSERT_HEAD(&session->api->cut_uses, use, link);
    } else if (session->call != NULL) {
        tunnel_close(steal(session->tunnel));
        (void)fail(&e, ERR_DENIED, "the token was revoked");
        tunnel_told(session, &e);
    } else {
        session_end(session);
    }
}

static bool argv_read(struct call *call, const struct doc *body, struct agent_tunnel *ret)
{
    const struct doc *list = doc_get(body, "command");
    const char **argv =
        arena_new(call_arena(call), const char *, list != NULL ? list->count + 1 : 1);
    bool well =
        list != NULL && list->kind == DOC_LIST && list->count > 0 && list->count <= TASK_ARGS_MAX;
    for (const struct doc *d = well ? list->first : NULL; d != NULL && well; d = d->next) {
        well = doc_text(d, &argv[ret->argv_count++]);
    }
    if (!well) {
        call_failf(call, ERR_INVALID, "command",
                   "'command' must be a list of 1 to %d texts, or 'attach' true", TASK_ARGS_MAX);
    }
    ret->argv = argv;
    return well;
}

/* Reads {"command":[…],"terminal":"24x80","term":"xterm","attach":true}. */
static bool order_read(struct call *call, struct agent_tunnel *ret)
{
    static const char *const fields[] = {"command", "terminal", "term", "attach", NULL};
    const struct doc *body;
    *ret = (struct agent_tunnel){.what = "exec", .terminal = "", .term = ""};
    if (!body_object(call, fields, &body) || !body_text(call, body, "terminal", &ret->terminal) ||
        !body_text(call, body, "term", &ret->term)) {
        return false;
    }
    if (strlen(ret->terminal) > NAME_LEN_MAX || strlen(ret->term) > NAME_LEN_MAX) {
        call_failf(call, ERR_INVALID, "term", "'term' and 'terminal' have at most %d bytes",
                   NAME_LEN_MAX);
        return false;
    }
    const struct doc *attach = doc_get(body, "attach");
    if (attach != NULL && attach->kind == DOC_BOOL && attach->yes) {
        ret->what = "attach";
        return true;
    }
    return argv_read(call, body, ret);
}

void exec_run(struct call *call)
{
    struct agent_tunnel order;
    task_id task;
    node_id node;
    uint64_t index = UINT64_MAX;
    struct error e;
    if (!call_task_id(call, &task) ||
        !call_query_u64(call, "instance", TASK_INSTANCES_MAX, &index)) {
        return;
    }
    if (!http_upgrade_asked(call->request, EXEC_PROTOCOL)) {
        call_failf(call, ERR_INVALID, "",
                   "this call needs the headers 'Connection: Upgrade' and 'Upgrade: " EXEC_PROTOCOL
                   "'");
        return;
    }
    if (!order_read(call, &order)) {
        return;
    }
    struct exec_session *session = xcalloc(1, sizeof *session);
    enum err r = tunnel_target(call_core(call), task, index == UINT64_MAX ? -1 : (int64_t)index,
                               &order.key, &node, &e);
    r = r == ERR_OK
            ? tunnel_ask(call->api, node, &order, tunnel_told, session, &session->tunnel, &e)
            : r;
    if (r != ERR_OK) {
        free(session);
        call_fail(call, &e);
        return;
    }
    session->api = call->api;
    session->call = call;
    session->what = strcmp(order.what, "attach") == 0 ? "attach" : "exec";
    session->began_ms = loop_now_ms(call->api->o.loop);
    (void)attempt_key_text(order.key, session->key);
    (void)str_copy(session->actor, sizeof session->actor, call->actor);
    api_token_begin(call, &session->use, session_cut);
    call_park(call, caller_gone, session);
}
