/* http_conn.c - the server's connections, and clients that leave without libmicrohttpd noticing.
 *
 * libmicrohttpd does not look at suspended connections. The library also misses an end of input
 * that arrives together with the last bytes: after a short read the library waits for another edge,
 * which never comes. So our own loop watches the socket of a stream, and notices the client's end
 * at once. All other sockets are looked at once a second with a single poll(), and http_guard.c looks
 * at their time limits.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/mem.h"
#include "io/http_internal.h"
#include "io/http_piece.h"

#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>

enum { CONNS_SWEEP_MS = 1000 };

static void conn_add(struct http_server *server, struct http_conn *conn)
{
    conn->next = server->conns;
    if (server->conns != NULL) {
        server->conns->prev = conn;
    }
    server->conns = conn;
    server->connections++;
    if (!loop_timer_armed(server->sweep)) {
        loop_timer_set(server->sweep, loop_now_ms(server->options.loop) + CONNS_SWEEP_MS);
    }
}

static void conn_remove(struct http_server *server, struct http_conn *conn)
{
    must(server->connections > 0);
    server->connections--;
    if (conn->prev != NULL) {
        conn->prev->next = conn->next;
    } else {
        server->conns = conn->next;
    }
    if (conn->next != NULL) {
        conn->next->prev = conn->prev;
    }
}

void http_conn_notify(void *cls, struct MHD_Connection *connection, void **socket_context,
                      enum MHD_ConnectionNotificationCode what)
{
    struct http_server *server = cls;
    if (what == MHD_CONNECTION_NOTIFY_STARTED) {
        const union MHD_ConnectionInfo *info =
            MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
        struct http_conn *conn = xcalloc(1, sizeof *conn);
        conn->server = server;
        conn->fd = info->connect_fd;
        conn_add(server, conn);
        http_guard_enter(
            cls, conn,
            MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS)->client_addr);
        *socket_context = conn;
    } else {
        struct http_conn *conn = *socket_context;
        if (conn->request != NULL) {
            /* The library closes some connections in the middle of a head without ending the
             * request: its own refusal found no room. */
            http_server_completed(conn->request);
        }
        http_guard_leave(server, conn);
        server->room = server->room || server->connections > server->options.connections_max;
        conn_remove(server, conn);
        free(conn);
    }
}

/* Makes the library close this connection. The library sees an error on the socket; for a suspended
 * connection it sees the error when the request is resumed. */
static void conn_end(struct http_conn *conn)
{
    (void)shutdown(conn->fd, SHUT_RDWR);
    if (conn->request != NULL) {
        conn->request->lost = true;
        http_server_resume(conn->request);
    }
}

/* The client has left, or its socket takes more of a piece. */
static void stream_event(void *ctx, uint32_t events)
{
    struct http_request *request = ctx;
    if (events == EPOLLOUT) {
        http_piece_go_on(request);
        return;
    }
    loop_fd_remove(request->watch);
    request->watch = NULL;
    conn_end(request->conn);
}

void http_conn_watch(struct http_request *request)
{
    must(request->watch == NULL);
    request->watch = loop_fd_add(request->server->options.loop, request->conn->fd, EPOLLRDHUP,
                                 stream_event, request);
}

/* A client that has closed only its sending side still wants the answer to a parked request, but
 * will not complete a request that is being read. The connection is closed at the second sweep that
 * sees the end, so that the library can see it first. */
static void conn_look(struct http_conn *conn, int events)
{
    const struct http_request *request = conn->request;
    bool broken = (events & (POLLHUP | POLLERR)) != 0;
    bool ended = broken || (events & POLLRDHUP) != 0;
    if (request != NULL && request->suspended && request->phase == HTTP_PARKED) {
        if (broken) {
            conn_end(conn);
        }
        return;
    }
    if (request != NULL && http_piece_late(request, loop_now_ms(conn->server->options.loop))) {
        conn_end(conn);
        return;
    }
    bool reading = request == NULL || request->phase == HTTP_READING || request->response != NULL;
    if (reading && ended && conn->half_closed) {
        (void)shutdown(conn->fd, SHUT_RDWR);
    }
    conn->half_closed = reading && ended;
}

void http_conn_sweep(void *ctx)
{
    struct http_server *server = ctx;
    vec_clear(&server->polls);
    for (const struct http_conn *conn = server->conns; conn != NULL; conn = conn->next) {
        vec_push(&server->polls, ((struct pollfd){.fd = conn->fd, .events = POLLRDHUP}));
    }
    if (server->conns == NULL) {
        return;
    }
    (void)poll(server->polls.at, server->polls.count, 0);
    size_t index = 0;
    for (struct http_conn *conn = server->conns; conn != NULL; conn = conn->next) {
        conn_look(conn, server->polls.at[index++].revents);
        http_guard_look(server, conn);
    }
    http_guard_told(server);
    loop_timer_set(server->sweep, loop_now_ms(server->options.loop) + CONNS_SWEEP_MS);
}
