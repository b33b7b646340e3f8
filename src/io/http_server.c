/* http_server.c - libmicrohttpd ("the library") run from our loop: the loop watches the library's
 * epoll descriptor, and a timer of the loop calls the library at its next time-out.
 *
 * Holds (see README.md): H1 every request handed to on_request ends in exactly one of answer,
 * stream or on_gone; H2 a request answered inside on_request is never suspended; H3 a resumed
 * request is run in the same turn, after the turn-end hooks, and not after the next wait.
 *
 * Surprising: a refusal at the head of a request with a body is held back until the (bounded) body
 * has been read. Closing a socket with unread bytes resets the connection, and the client would
 * lose the answer. Also, the library closes the connection of any request that is answered at its
 * head. SPDX-License-Identifier: Apache-2.0 */
#include "io/http_server.h"

#include "base/mem.h"
#include "io/http_head.h"
#include "io/http_internal.h"
#include "io/http_request.h"

#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

enum {
    SERVER_PUMP_MAX = 16, /* runs of the library in a row before other callbacks have their turn */
    /* Bytes read of a refused body; beyond it the connection closes. */
    SERVER_DISCARD_MAX = 16 * 1024 * 1024,
};

/* TLS 1.2 and 1.3 with forward secrecy and authenticated encryption only. */
#define SERVER_PRIORITIES                                                                          \
    "NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2:-KX-ALL:+ECDHE-ECDSA:+ECDHE-RSA:-CIPHER-ALL:"      \
    "+AES-256-GCM:+CHACHA20-POLY1305:+AES-128-GCM:-MAC-ALL:+AEAD:-GROUP-ALL:+GROUP-X25519:"        \
    "+GROUP-SECP256R1:+GROUP-SECP384R1:-SIGN-RSA-SHA1:-SIGN-ECDSA-SHA1:%SERVER_PRECEDENCE"

/* Running the library. */

static void timer_arm(struct http_server *server, int64_t at_ms)
{
    /* An early call is harmless: the library finds nothing to do, and the timer is set again. */
    if (!loop_timer_armed(server->timer) || at_ms < server->timer_at_ms) {
        server->timer_at_ms = at_ms;
        loop_timer_set(server->timer, at_ms);
    }
}

static void pump(struct http_server *server)
{
    int64_t now_ms = loop_now_ms(server->options.loop);
    for (unsigned i = 0; i < SERVER_PUMP_MAX; i++) {
        server->resumed = false;
        server->room = false;
        must(MHD_run(server->daemon) == MHD_YES);
        unsigned long long wait_ms = 0;
        bool timed = MHD_get_timeout(server->daemon, &wait_ms) == MHD_YES;
        if (server->resumed || server->room || (timed && wait_ms == 0)) {
            continue;
        }
        if (timed) {
            timer_arm(server, now_ms + (int64_t)wait_ms);
        }
        return;
    }
    timer_arm(server, now_ms);
}

static void daemon_ready(void *ctx, uint32_t events)
{
    (void)events;
    pump(ctx);
}

static void daemon_timeout(void *ctx)
{
    pump(ctx);
}

static void daemon_flush(void *ctx)
{
    struct http_server *server = ctx;
    if (!server->resumed) {
        return;
    }
    uint64_t calls = server->calls;
    pump(server);
    if (server->calls != calls) {
        loop_wake(server->options.loop); /* the turn-end hooks act on what the handlers did */
    }
}

void http_server_resume(struct http_request *request)
{
    if (request->suspended) {
        request->suspended = false;
        request->server->resumed = true;
        MHD_resume_connection(request->connection);
        loop_wake(request->server->options.loop);
    }
}

/* Callbacks of the library. */

/* Gives the library an empty query. Otherwise the library keeps each parameter in the memory of the
 * connection; where the parameters do not fit, the library closes the connection without an answer.
 * http_url.c reads the query from our own copy of the target. The text is the library's own buffer,
 * and the library cuts the text at the same place after this call. */
static void query_hide(const char *target)
{
    char *query = strchr((char *)(uintptr_t)target, '?');
    if (query != NULL && query[1] != '\0') {
        query[1] = '\0';
    }
}

static void *target_seen(void *cls, const char *target, struct MHD_Connection *connection)
{
    struct http_server *server = cls;
    struct http_request *request = http_request_new(server, target != NULL ? target : "");
    request->connection = connection;
    if (target != NULL) {
        query_hide(target);
    }
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    request->conn = info->socket_context;
    request->conn->request = request;
    request->conn->half_closed = false;
    return request;
}

/* Leaves targets as they are, because http_url.c decodes them: the library's decoder cannot report
 * an error. */
static size_t target_kept(void *cls, struct MHD_Connection *connection, char *text)
{
    (void)cls;
    (void)connection;
    return strlen(text);
}

static enum MHD_Result answer_queue(struct http_request *request)
{
    struct MHD_Response *response = steal(request->response);
    enum MHD_Result r = MHD_queue_response(request->connection, request->status, response);
    MHD_destroy_response(response);
    return r;
}

/* Refuses what the library lets pass. True: the head is in order. After a refusal the connection
 * closes, because where the next request begins is in doubt. */
static bool head_check(struct http_request *request, const char *version)
{
    struct error e = {.code = ERR_INVALID};
    const char *fault = http_head_fault(request, version);
    if (fault == NULL && !request->plain && http_request_header(request, "Host") == NULL) {
        fault = "the Host header is missing";
    }
    if (fault == NULL && http_url_parse(request->target, HTTP_QUERY_MAX, &request->arena,
                                        &request->url, &e) != ERR_OK) {
        fault = e.text;
    }
    if (fault != NULL) {
        http_request_answer_header(request, "Connection", "close");
        http_request_refuse(request, 400, e.code, fault);
    }
    return fault == NULL;
}

static void body_refuse(struct http_request *request)
{
    struct error e;
    (void)fail(&e, ERR_LIMIT, "the body is larger than the %zu bytes taken here",
               request->body.max);
    http_request_refuse(request, 413, e.code, e.text);
}

static void head_handle(struct http_request *request, uint64_t length)
{
    struct http_server *server = request->server;
    if (http_guard_over(server, request->conn)) {
        http_request_answer_header(request, "Retry-After", "1");
        http_request_answer_header(request, "Connection", "close");
        http_request_refuse(request, 503, ERR_BUSY, "too many connections");
        return;
    }
    size_t max = 0;
    if (server->options.on_head != NULL) {
        server->calls++;
        max = server->options.on_head(server->options.ctx, request);
    }
    request->body.max = max;
    if (request->phase == HTTP_READING && length > max) {
        body_refuse(request);
    }
}

static enum MHD_Result access_head(struct http_request *request, const char *version)
{
    request->head_seen = true;
    http_guard_busy(request->conn);
    request->plain = strcmp(version, "HTTP/1.0") == 0;
    bool chunked = http_request_header(request, "Transfer-Encoding") != NULL;
    const char *length_text = http_request_header(request, "Content-Length");
    uint64_t length = 0;
    if (length_text != NULL) {
        (void)str_to_u64(str_of(length_text), &length); /* checked by the library and http_head.c */
    }
    bool sane = head_check(request, version);
    if (sane) {
        head_handle(request, length);
    }
    if (request->response == NULL || (sane && length == 0 && !chunked)) {
        return MHD_YES;
    }
    bool expects = http_request_header(request, "Expect") != NULL;
    if (!sane || expects || length > SERVER_DISCARD_MAX) {
        return answer_queue(request); /* the library then closes the connection */
    }
    return MHD_YES;
}

static enum MHD_Result access_body(struct http_request *request, const char *data, size_t len)
{
    if (request->response == NULL && !request->body_over) {
        buf_add(&request->body, data, len);
        if (!request->body.full) {
            return MHD_YES;
        }
        request->body_over = true;
    }
    request->body_discarded += len;
    return request->body_discarded <= SERVER_DISCARD_MAX ? MHD_YES : MHD_NO;
}

/* Called when the request is complete, or when the library looks at a resumed request again. */
static enum MHD_Result access_complete(struct http_request *request)
{
    request->complete = true;
    if (request->lost) {
        return MHD_NO;
    }
    if (request->phase == HTTP_READING && request->body_over) {
        body_refuse(request);
    }
    if (request->phase == HTTP_READING) {
        request->phase = HTTP_HANDLING;
        request->server->calls++;
        request->server->options.on_request(request->server->options.ctx, request);
    }
    if (request->response != NULL) {
        return answer_queue(request);
    }
    must(request->phase == HTTP_HANDLING || request->phase == HTTP_PARKED);
    request->phase = HTTP_PARKED;
    if (!request->waited) {
        /* The connection is suspended at the library's next call, not now. When a connection that
         * was suspended now is resumed, the library reads from it, and takes a client that has
         * closed its sending side for gone. */
        request->waited = true;
        return MHD_YES;
    }
    request->suspended = true;
    MHD_suspend_connection(request->connection);
    return MHD_YES;
}

static enum MHD_Result access_any(void *cls, struct MHD_Connection *connection, const char *url,
                                  const char *method, const char *version, const char *data,
                                  size_t *len, void **con_cls)
{
    (void)cls;
    (void)connection;
    (void)url;
    struct http_request *request = *con_cls;
    if (!request->head_seen) {
        request->method = method;
        return access_head(request, version);
    }
    if (*len > 0) {
        size_t taken = *len;
        *len = 0;
        return access_body(request, data, taken);
    }
    return access_complete(request);
}

void http_server_completed(struct http_request *request)
{
    struct http_server *server = request->server;
    request->conn->request = NULL;
    http_guard_idle(server, request->conn);
    loop_fd_remove(request->watch);
    request->watch = NULL;
    if (request->phase == HTTP_PARKED && server->options.on_gone != NULL) {
        server->calls++;
        server->options.on_gone(server->options.ctx, request);
    } else if (request->phase == HTTP_STREAMING && request->stream.on_gone != NULL) {
        server->calls++;
        request->stream.on_gone(request->stream.ctx);
    } else if (request->phase == HTTP_UPGRADED) {
        http_upgrade_lost(request);
    }
    http_request_drop(request);
}

static void completed(void *cls, struct MHD_Connection *connection, void **con_cls,
                      enum MHD_RequestTerminationCode why)
{
    (void)cls;
    (void)connection;
    (void)why;
    struct http_request *request = *con_cls;
    if (request != NULL) {
        *con_cls = NULL;
        http_server_completed(request);
    }
}

/* Starting and stopping the server. */

static struct MHD_Daemon *daemon_start(struct http_server *server, int fd)
{
    const struct http_server_options *options = &server->options;
    unsigned idle_s = options->idle_s < HTTP_IDLE_S_MIN ? HTTP_IDLE_S_MIN : options->idle_s;
    /* A connection above connections_max gets an answer that says so. A connection above this limit
     * waits in the backlog. */
    unsigned limit = options->connections_max + http_guard_extra(options->connections_max);
    unsigned flags = MHD_USE_EPOLL | MHD_USE_TURBO | MHD_ALLOW_SUSPEND_RESUME | MHD_ALLOW_UPGRADE;
    const struct MHD_OptionItem plain[] = {{MHD_OPTION_END, 0, NULL}};
    struct MHD_OptionItem secure[] = {
        {MHD_OPTION_HTTPS_CERT_CALLBACK2, 0, (void *)http_tls_retrieve},
        {MHD_OPTION_HTTPS_PRIORITIES, 0, (void *)(uintptr_t)SERVER_PRIORITIES},
        {MHD_OPTION_HTTPS_MEM_TRUST, 0, NULL},
        {MHD_OPTION_END, 0, NULL},
    };
    if (options->tls != NULL) {
        flags |= MHD_USE_TLS;
        secure[2].ptr_value = (void *)(uintptr_t)http_tls_nodes_pem(options->tls);
    }
    return MHD_start_daemon(flags, 0, NULL, NULL, access_any, server, MHD_OPTION_ARRAY,
                            options->tls != NULL ? secure : plain, MHD_OPTION_LISTEN_SOCKET, fd,
                            MHD_OPTION_CONNECTION_LIMIT, limit, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
                            (size_t)HTTP_HEAD_MAX, MHD_OPTION_CONNECTION_TIMEOUT, idle_s,
                            MHD_OPTION_URI_LOG_CALLBACK, target_seen, server,
                            MHD_OPTION_UNESCAPE_CALLBACK, target_kept, server,
                            MHD_OPTION_NOTIFY_COMPLETED, completed, server,
                            MHD_OPTION_NOTIFY_CONNECTION, http_conn_notify, server, MHD_OPTION_END);
}

must_use enum err http_server_new(const struct http_server_options *options,
                                  struct http_server **ret, struct error *e)
{
    must(options->on_request != NULL);
    must(options->connections_max > 0);
    int fd = -1;
    uint16_t port = 0;
    enum err r = http_listen(options, &fd, &port, e);
    if (r != ERR_OK) {
        return r;
    }
    struct http_server *server = xcalloc(1, sizeof *server);
    server->options = *options;
    server->options.address = NULL; /* both borrowed for this call only */
    server->options.unix_path = NULL;
    server->local = options->unix_path != NULL;
    server->options.connections_max = http_guard_max(options->connections_max);
    server->addresses = map_new();
    TAILQ_INIT(&server->idle);
    server->port = port;
    server->daemon = daemon_start(server, fd);
    if (server->daemon == NULL) {
        (void)close(fd);
        map_free(server->addresses);
        free(server);
        return fail(e, ERR_IO, "cannot start the HTTP server");
    }
    const union MHD_DaemonInfo *info =
        MHD_get_daemon_info(server->daemon, MHD_DAEMON_INFO_EPOLL_FD);
    struct loop *loop = options->loop;
    server->watch = loop_fd_add(loop, info->epoll_fd, EPOLLIN, daemon_ready, server);
    server->timer = loop_timer_new(loop, daemon_timeout, server);
    server->sweep = loop_timer_new(loop, http_conn_sweep, server);
    loop_turn_flush(loop, daemon_flush, server);
    pump(server); /* only now does the library watch the listening socket */
    *ret = server;
    return ERR_OK;
}

void http_server_free(struct http_server *server)
{
    if (server == NULL) {
        return;
    }
    server->closing = true;
    must(server->upgrades == 0);
    pump(server); /* the library closes the connections whose upgrade ended */
    for (struct http_request *request = server->live; request != NULL; request = request->next) {
        http_server_resume(request); /* the library cannot stop with suspended connections */
    }
    loop_hooks_remove(server->options.loop, server);
    loop_fd_remove(server->watch);
    loop_timer_free(server->timer);
    loop_timer_free(server->sweep);
    MHD_stop_daemon(server->daemon);
    must(server->live == NULL);
    must(server->conns == NULL);
    map_free(server->addresses);
    vec_done(&server->polls);
    http_request_spares_free(server);
    free(server);
}

uint16_t http_server_port(const struct http_server *server)
{
    return server->port;
}

unsigned http_server_connections_max(const struct http_server *server)
{
    return server->options.connections_max;
}

unsigned http_server_connections(const struct http_server *server)
{
    return server->connections;
}
