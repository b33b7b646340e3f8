/* http_conn.c - the server's connections, and clients that leave without the library noticing.
 *
 * It does not look at suspended connections at all, and it misses the end of input when that arrives
 * together with the last bytes: a short read makes it wait for another edge, which never comes. A
 * stream's socket is therefore watched by our own loop (noticed at once), all others are looked at
 * once a second with a single poll().
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/mem.h"
#include "io/http_internal.h"

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
    if (what == MHD_CONNECTION_NOTIFY_STARTED) {
        const union MHD_ConnectionInfo *info =
            MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
        struct http_conn *conn = xcalloc(1, sizeof *conn);
        conn->fd = info->connect_fd;
        conn_add(cls, conn);
        *socket_context = conn;
    } else {
        struct http_conn *conn = *socket_context;
        must(conn->request == NULL);
        conn_remove(cls, conn);
        free(conn);
    }
}

/* The library is to close this connection: an error on the socket makes it, or, where it does not
 * look, the request's next call. */
static void conn_end(struct http_conn *conn)
{
    (void)shutdown(conn->fd, SHUT_RDWR);
    if (conn->request != NULL) {
        conn->request->lost = true;
        http_server_resume(conn->request);
    }
}

static void stream_left(void *ctx, uint32_t events)
{
    (void)events;
    struct http_request *request = ctx;
    loop_fd_remove(request->watch);
    request->watch = NULL;
    conn_end(request->conn);
}

void http_conn_watch(struct http_request *request)
{
    must(request->watch == NULL);
    request->watch = loop_fd_add(request->server->options.loop, request->conn->fd, EPOLLRDHUP,
                                 stream_left, request);
}

/* A client that has closed only its sending side still wants the answer to a parked request, but
 * will not complete one that is being read. Two sweeps in a row, so that the library has had its
 * chance to see it first. */
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
    }
    loop_timer_set(server->sweep, loop_now_ms(server->options.loop) + CONNS_SWEEP_MS);
}
