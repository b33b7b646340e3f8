/* server_host.c - the server as the API sees it (api/host.h).
 * SPDX-License-Identifier: Apache-2.0 */
#include "server/server_internal.h"

static const struct core *host_core(void *ctx)
{
    const struct server *server = ctx;
    return ledger_core(server->ledger);
}

static int64_t host_now_ms(void *ctx)
{
    const struct server *server = ctx;
    return ledger_now_ms(server->ledger);
}

static enum err host_writable(void *ctx, struct error *e)
{
    const struct server *server = ctx;
    if (server->stopping) {
        return fail(e, ERR_BUSY, "the server is stopping");
    }
    return ledger_writable(server->ledger, e);
}

static enum err host_room(void *ctx, enum room_class class, struct error *e)
{
    const struct server *server = ctx;
    return ledger_room(server->ledger, class, e);
}

static enum verdict host_input(void *ctx, struct input *in, struct facts *out)
{
    struct server *server = ctx;
    return ledger_input(server->ledger, in, out);
}

static enum err host_node_sign(void *ctx, const char *request, const struct x509_node *node,
                               struct arena *arena, const char **ret_pem, int64_t *ret_renew_ms,
                               struct error *e)
{
    const struct server *server = ctx;
    return server_tls_sign(server->tls, request, node, arena, ret_pem, ret_renew_ms, e);
}

static void host_token_put(void *ctx, const struct store_token *token)
{
    struct server *server = ctx;
    ledger_token(server->ledger, token);
}

static void host_forget(void *ctx, task_id task)
{
    struct server *server = ctx;
    ledger_forget(server->ledger, task);
}

static void host_hold(void *ctx, struct parked_answer *hold)
{
    struct server *server = ctx;
    ledger_hold(server->ledger, hold);
}

static void host_await_core(void *ctx, struct parked_answer *hold)
{
    struct server *server = ctx;
    ledger_await_core(server->ledger, hold);
}

static void host_unhold(void *ctx, struct parked_answer *hold)
{
    struct server *server = ctx;
    ledger_unhold(server->ledger, hold);
}

static bool host_read(void *ctx, struct work *work)
{
    struct server *server = ctx;
    return work_thread_do(server->reader, work);
}

static bool host_compute(void *ctx, struct work *work)
{
    struct server *server = ctx;
    return work_thread_do(server->worker, work);
}

static const struct use_table *host_uses(void *ctx)
{
    const struct server *server = ctx;
    return agents_uses(server->agents);
}

static void host_numbers(void *ctx, struct host_numbers *ret)
{
    const struct server *server = ctx;
    *ret = (struct host_numbers){.started_ms = server->started_ms};
    ledger_numbers(server->ledger, ret);
    snapshots_numbers(server->snapshots, ret);
    agents_numbers(server->agents, ret);
    ret->passes = schedule_passes(server->schedule);
    ret->pass_tries = schedule_tries(server->schedule);
    ret->connections = server->http != NULL ? http_server_connections(server->http) : 0;
}

/* Reads the file again: what it says counts from the next start or SIGHUP on. */
static void host_config(void *ctx, struct arena *arena, struct host_config *ret)
{
    const struct server *server = ctx;
    const struct server_options *o = &server->o;
    struct server_file *file = arena_new(arena, struct server_file, 1);
    struct error e;
    const char *report = NULL;
    *ret = (struct host_config){.path = o->config, .text = {"", 0}};
    server_settings_init(&ret->settings, &o->file, arena);
    server_settings_flag(&ret->settings, "listen", o->listen);
    server_settings_flag(&ret->settings, "data", o->dir != o->file.data_dir ? o->dir : NULL);
    server_settings_flag(&ret->settings, "tls.cert",
                         o->tls_cert != o->file.tls_cert ? o->tls_cert : NULL);
    server_settings_flag(&ret->settings, "tls.key",
                         o->tls_key != o->file.tls_key ? o->tls_key : NULL);
    server_settings_flag(&ret->settings, "insecure_listen", o->insecure_listen ? "yes" : NULL);
    if (o->config == NULL) {
        return;
    }
    if (server_options_text(o->config, arena, &ret->text, &e) == ERR_OK &&
        server_options_file(o->config, arena, file, &report, &e) == ERR_OK) {
        ret->file = file;
    } else {
        ret->problem = arena_str(arena, report != NULL ? report : e.text);
    }
}

static void host_agent_stream(void *ctx, struct call *call)
{
    struct server *server = ctx;
    agents_stream(server->agents, call);
}

static void host_agent_reports(void *ctx, struct call *call)
{
    struct server *server = ctx;
    agents_reports(server->agents, call);
}

static bool host_agent_connected(void *ctx, const char *node)
{
    const struct server *server = ctx;
    return agents_connected(server->agents, node);
}

static bool host_agent_order(void *ctx, const char *node, struct agent_order *order)
{
    const struct server *server = ctx;
    return agents_order(server->agents, node, order);
}

void server_host_init(struct server *server)
{
    server->host = (struct api_host){
        .ctx = server,
        .core = host_core,
        .now_ms = host_now_ms,
        .writable = host_writable,
        .room = host_room,
        .input = host_input,
        .token_put = host_token_put,
        .forget = host_forget,
        .node_sign = host_node_sign,
        .hold = host_hold,
        .await_core = host_await_core,
        .unhold = host_unhold,
        .read = host_read,
        .compute = host_compute,
        .uses = host_uses,
        .numbers = host_numbers,
        .config = host_config,
        .agent_stream = host_agent_stream,
        .agent_reports = host_agent_reports,
        .agent_connected = host_agent_connected,
        .agent_order = host_agent_order,
    };
}
