/* api.c - takes a request from its head to its handler: which token it has, whether the token
 * permits it, whether there is room.
 *
 * A1 a path without a row in routes.def is no route; A2 every route except health needs a token,
 * which is checked before anything is said about the path; A3 a browser page of another origin gets
 * nothing: Host must be a loopback name, an address literal, the configured name or a name of the
 * certificate (against DNS rebinding), and Origin must match Host (who.h). SPDX-License-Identifier: Apache-2.0 */
#include "api/api.h"

#include "api/api_internal.h"
#include "api/asks.h"
#include "api/audits.h"
#include "api/uploads.h"
#include "api/checkup.h"
#include "api/cursors.h"
#include "api/events.h"
#include "api/handlers.h"
#include "api/past.h"
#include "api/proxy.h"
#include "api/route.h"
#include "api/tunnel.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "io/http_request.h"
#include "store/audit.h"
#include "wire/error_json.h"

/* A node may be switched off for so long beyond the end of its certificate and come back by itself. */
#define CERT_LATE_MS_MAX ((int64_t)30 * 24 * 60 * 60 * 1000)

struct api *api_new(const struct api_options *options)
{
    struct api *api = xcalloc(1, sizeof *api);
    api->o = *options;
    api->watches = watches_new();
    api->events = events_streams_new(api);
    api->tunnels = tunnel_list_new(api);
    api->proxies = proxy_new(api);
    api->checkup = checkup_new(api);
    api->asks = asks_new(api);
    api->uploads = uploads_new(api, options->dir == NULL ? "." : options->dir);
    api->cursors = cursors_new();
    api->pasts = past_new(api);
    struct error e;
    if (options->dir != NULL && audit_open(options->dir, &api->audit, &e) != ERR_OK) {
        log_error("what administrators do is not recorded", kv_error(&e));
    }
    return api;
}

void api_free(struct api *api)
{
    if (api == NULL) {
        return;
    }
    tunnel_list_free(api->tunnels);
    proxy_free(api->proxies);
    checkup_free(api->checkup);
    events_streams_free(api->events);
    asks_free(api->asks);
    uploads_free(api->uploads);
    watches_free(api->watches);
    cursors_free(api->cursors);
    past_free(api->pasts);
    audit_free(api->audit);
    free(api);
}

void api_count_answer(struct api *api, unsigned status)
{
    unsigned class = status / 100;
    api->answers[class < STATUS_CLASSES ? class : 0]++;
}

unsigned api_error_form(const struct api *api, struct http_request *request, unsigned status,
                        struct buf *body)
{
    const struct route_mount mount = route_mount_of(&api->o.mounts, http_request_path(request));
    if (mount.error == NULL || status < 400) {
        return status;
    }
    struct buf out;
    buf_init(&out, ANSWER_BYTES_MAX);
    status = mount.error(status, http_request_method(request),
                         http_request_path(request) + strlen(mount.prefix),
                         (struct str){buf_text(body), body->len}, &out);
    buf_done(body);
    *body = out;
    return status;
}

/* A client that gives up shall connect anew for each request: while no server takes connections they wait in the socket that
 * the parent keeps, but a kept connection breaks with the server. */
void api_connection_form(const struct api *api, struct http_request *request)
{
    if (api->o.inherited && route_mount_of(&api->o.mounts, http_request_path(request)).gives_up) {
        http_request_answer_header(request, "Connection", "close");
    }
}

/* ---- refusing at the head ---- */

static size_t refuse(struct api *api, struct http_request *request, unsigned status,
                     const struct error *e)
{
    struct buf out;
    buf_init(&out, ANSWER_BYTES_MAX);
    error_json(e, &out);
    status = api_error_form(api, request, status, &out);
    api_count_answer(api, status);
    api_connection_form(api, request);
    http_request_answer(request, status, "application/json", (struct str){buf_text(&out), out.len});
    buf_done(&out);
    return 0;
}

static size_t refuse_path(struct api *api, struct http_request *request, const char *allow)
{
    struct error e;
    if (allow == NULL) {
        (void)fail(&e, ERR_NOT_FOUND, "no such path '%.120s'", http_request_path(request));
        return refuse(api, request, 404, &e);
    }
    (void)fail(&e, ERR_INVALID, "%.20s is not possible here, only %s", http_request_method(request),
               allow);
    http_request_answer_header(request, "Allow", allow);
    return refuse(api, request, 405, &e);
}

static size_t refuse_token(struct api *api, struct http_request *request)
{
    struct error e;
    const char *header = http_request_header(request, "Authorization");
    if (header != NULL && strncasecmp(header, "Basic ", strlen("Basic ")) == 0) {
        (void)fail(&e, ERR_DENIED,
                   "a valid token is needed, and the request has a name and a password: many "
                   "clients take those from ~/.netrc in place of the token");
    } else {
        (void)fail(&e, ERR_DENIED, "a valid token is needed: Authorization: Bearer …");
    }
    http_request_answer_header(request, "WWW-Authenticate", "Bearer");
    return refuse(api, request, 401, &e);
}

/* Returns the actor of requests with this token, like "user:root". */
static const char *actor_of(struct arena *arena, const struct store_token *token)
{
    const char *what = strcmp(token->scope, "node") == 0   ? "node"
                       : strcmp(token->scope, "join") == 0 ? "join"
                                                           : "user";
    return arena_fmt(arena, "%s:%.*s", what, ACTOR_LEN_MAX - 5, token->name);
}

static size_t refuse_scope(struct api *api, struct http_request *request, const struct route *route,
                           const struct store_token *token)
{
    struct error e;
    const char *actor = actor_of(http_request_arena(request), token);
    audits_refused(api, request, &(struct audits_act){route, actor, token->id, 403});
    (void)fail(&e, ERR_DENIED, "a token of scope '%s' may not %s %.120s", token->scope,
               http_request_method(request), http_request_path(request));
    return refuse(api, request, 403, &e);
}

/* A node's credential counts only together with the certificate that was made for this credential. A
 * certificate out of its dates is good for one thing: to get the next one. */
static bool node_proven(struct api *api, struct http_request *request, const struct route *route,
                        const struct store_token *token)
{
    struct error e;
    const struct http_node_cert *cert = http_tls_used(request) ? http_tls_node_cert(request) : NULL;
    if (!http_tls_used(request)) {
        return true;
    }
    if (cert == NULL || strcmp(cert->name, token->name) != 0 ||
        strcmp(cert->credential, token->id) != 0) {
        (void)fail(&e, ERR_DENIED,
                   "node '%s' shows no certificate that was made for its credential; `weir node "
                   "rejoin %s` lets it join anew",
                   token->name, token->name);
        (void)refuse(api, request, 401, &e);
        return false;
    }
    const bool renews = route != NULL && route->handler == agent_certificate;
    if (cert->off_ms > (renews ? CERT_LATE_MS_MAX : 0)) {
        (void)fail(&e, ERR_DENIED,
                   renews
                       ? "the certificate of node '%s' ended too long ago; `weir node rejoin` lets "
                         "the node join anew"
                       : "the certificate of node '%s' is out of its dates; the node must renew it",
                   token->name);
        (void)refuse(api, request, renews ? 401 : 403, &e);
        return false;
    }
    return true;
}

/* ---- the three callbacks of the HTTP server ---- */

static void call_begin(struct api *api, struct http_request *request, const struct route *route,
                       const char *const *params, const struct who *who)
{
    const struct store_token *token = who->token;
    struct arena *arena = http_request_arena(request);
    struct call *call = arena_new(arena, struct call, 1);
    call->api = api;
    call->request = request;
    call->route = route;
    memcpy(call->params, params, sizeof call->params);
    call->name = "";
    call->actor = "nobody";
    call->by = who->by;
    call->token = "";
    call->pool = "";
    call->principal = (struct access_principal){.reach = ACCESS_NOBODY};
    if (token != NULL) {
        must(token_scope_parse(token->scope, &call->scope));
        call->name = arena_str(arena, token->name);
        call->token = arena_str(arena, who->session != NULL ? who->session->id : token->id);
        call->pool = arena_str(arena, token->pool);
        call->principal = access_principal_of(call->scope, call->name);
        call->actor = actor_of(arena, token);
    }
    const char *cause = http_request_header(request, "X-Request-Id");
    call->cause = "";
    if (cause != NULL && utf8_valid(cause, strlen(cause))) {
        call->cause = arena_fmt(arena, "%.*s", ACTOR_LEN_MAX, cause);
    }
    buf_init(&call->out, ANSWER_BYTES_MAX);
    http_request_set_data(request, call);
}

/* io refuses such a body, too, but in Weir's form, which another system's clients may not read. */
static bool is_too_long(const struct api *api, struct http_request *request,
                        const struct route *route, struct error *e)
{
    const char *header = http_request_header(request, "Content-Length");
    uint64_t length;
    return route_mount_of(&api->o.mounts, http_request_path(request)).error != NULL &&
           header != NULL && str_to_u64(str_of(header), &length) && length > route->body_max &&
           fail(e, ERR_LIMIT, "the body is larger than the %zu bytes taken here",
                route->body_max) != ERR_OK;
}

size_t api_on_head(void *ctx, struct http_request *request)
{
    struct api *api = ctx;
    const char *params[CALL_PARAMS_MAX] = {NULL};
    const char *allow;
    const struct route *route =
        route_find(&api->o.mounts, http_request_method(request), http_request_path(request),
                   http_request_arena(request), params, &allow);
    struct error e;
    if (!who_host_trusted(api, request, &e)) {
        return refuse(api, request, 403, &e);
    }
    const struct who who = who_of(api, request);
    const struct store_token *token = who.token;
    const bool open = route != NULL && route_is_open(route);
    const bool only_signs_in = who.by == WHO_BY_LINK;
    if (!open &&
        (token == NULL || (only_signs_in && (route == NULL || route->handler != session_create)))) {
        return refuse_token(api, request);
    }
    const char *cross = open ? NULL : who_cross_site(&who, request);
    if (cross != NULL) {
        (void)fail(&e, ERR_DENIED, "%s", cross);
        return refuse(api, request, 403, &e);
    }
    if (route == NULL) {
        return refuse_path(api, request, allow);
    }
    enum token_scope scope = SCOPE_READ;
    must(token == NULL || token_scope_parse(token->scope, &scope));
    if (!route_permits(route->permission, scope)) {
        return refuse_scope(api, request, route, token);
    }
    if (token != NULL && scope == SCOPE_NODE && !node_proven(api, request, route, token)) {
        return 0;
    }
    if (is_too_long(api, request, route, &e)) {
        return refuse(api, request, 413, &e);
    }
    call_begin(api, request, route, params, &who);
    return route->body_max;
}

/* May the state be changed, and is there room? Answers the call when not. */
static bool admitted(struct call *call)
{
    const struct api_host *host = call->api->o.host;
    struct error e;
    if (!call_reads(call) && host->writable(host->ctx, &e) != ERR_OK) {
        call_busy(call, 503, &e);
        return false;
    }
    if (host->room(host->ctx, call->route->room, &e) != ERR_OK) {
        call_busy(call, 429, &e);
        return false;
    }
    return true;
}

void api_on_request(void *ctx, struct http_request *request)
{
    struct api *api = ctx;
    struct call *call = http_request_data(request);
    must(call != NULL);
    bool open = route_is_open(call->route);
    if ((!open && !admitted(call)) || !call_query_known(call)) {
        return;
    }
    if (!open && api->o.host->core(api->o.host->ctx) == NULL) {
        call_await_core(call);
    } else {
        call_run(call);
    }
}

void api_on_gone(void *ctx, struct http_request *request)
{
    struct api *api = ctx;
    struct call *call = http_request_data(request);
    if (call == NULL) {
        return;
    }
    api->o.host->unhold(api->o.host->ctx, &call->hold);
    if (call->gone != NULL) {
        call->gone(call, call->gone_ctx);
    }
    call_done(call);
}

const char *api_token_text(const struct call *call, const char *secret)
{
    const struct http_tls *tls = call->api->o.tls;
    return tls == NULL || http_tls_facts(tls)->root[0] == '\0'
               ? secret
               : arena_fmt(call_arena(call), "%s.%s", secret, http_tls_facts(tls)->root);
}

void api_token_begin(const struct call *call, struct token_use *use,
                     void (*cut)(struct token_use *use))
{
    (void)str_copy(use->token, sizeof use->token, call->token);
    use->cut = cut;
    LIST_INSERT_HEAD(&call->api->uses, use, link);
}

void api_token_end(struct token_use *use)
{
    LIST_REMOVE(use, link);
}

void api_stop(struct api *api)
{
    while (!LIST_EMPTY(&api->uses)) {
        LIST_FIRST(&api->uses)->cut(LIST_FIRST(&api->uses));
    }
    checkup_stop(api->checkup);
    tunnel_list_stop(api->tunnels);
}

static void uses_cut(struct api *api, const char *token)
{
    struct token_use *use = LIST_FIRST(&api->uses);
    while (use != NULL) {
        struct token_use *next = LIST_NEXT(use, link);
        if (strcmp(use->token, token) == 0) {
            use->cut(use);
        }
        use = next;
    }
}

void api_committed(struct api *api, const struct store_batch *batch)
{
    for (size_t i = 0; i < batch->log_count; i++) {
        /* Pieces of one task come in a row, so one wake-up is enough. */
        uint64_t task = batch->logs[i].task;
        if (i + 1 == batch->log_count || batch->logs[i + 1].task != task) {
            watches_tell(api->watches, (task_id){task}, WATCH_OUTPUT, (struct str){0});
        }
    }
    for (size_t i = 0; i < batch->history_count; i++) {
        watches_tell(api->watches, (task_id){batch->history[i].task}, WATCH_ENDED,
                     batch->history[i].json);
    }
    events_streams_committed(api->events, batch);
    checkup_wake(api->checkup);
    for (size_t i = 0; i < batch->token_count; i++) {
        if (batch->tokens[i].revoked) {
            uses_cut(api, batch->tokens[i].id);
        }
    }
}

void api_sweep(struct api *api)
{
    uploads_sweep(api->uploads);
}
