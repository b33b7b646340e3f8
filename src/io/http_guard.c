/* http_guard.c - no client holds a connection without using it: time limits of heads and bodies, and
 * limits of connections, for each address and in all.
 *
 * G1 a head has HEAD_MS_MAX from its first byte (of a new connection: from the connection's begin);
 * G2 after its first BODY_MS_MAX a body has come with BODY_BYTES_S on average;
 * G3 above a limit the oldest connection without a request is given up for the newest one.
 *
 * Surprising: the library does not say when the first byte of a head arrives on a kept connection. The
 * kernel counts the received bytes (TCP_INFO), and the sweep of each second compares the counts.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/mem.h"
#include "io/http_internal.h"

#include <linux/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>

enum {
    HEAD_MS_MAX = 10 * 1000,
    BODY_MS_MAX = 10 * 1000,
    BODY_BYTES_S = 1024,
    FILES_RESERVED = 32, /* open files of everything that is no connection */
    CONNECTIONS_MIN = 4,
    ADDRESS_PART = 4, /* one address may have this part of all connections */
    ADDRESS_MIN = 16,
};

/* Connections from one address. */
struct http_address {
    struct http_conn_list idle; /* oldest first */
    unsigned count;             /* connections that are not given up */
    unsigned conns;             /* all connections that refer to this struct */
    size_t len;
    unsigned char bytes[sizeof(struct in6_addr)];
};

unsigned http_guard_extra(unsigned connections_max)
{
    return connections_max / 8 + CONNECTIONS_MIN;
}

unsigned http_guard_max(unsigned wanted)
{
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files) != 0 || files.rlim_cur == RLIM_INFINITY) {
        return wanted;
    }
    unsigned max = wanted;
    while (max > CONNECTIONS_MIN &&
           (rlim_t)max + http_guard_extra(max) + FILES_RESERVED > files.rlim_cur) {
        max -= max / 64 + 1;
    }
    return max;
}

/* ---- limits of connections ---- */

/* The bytes of the client's address; 0: this machine, whose clients share one address. */
static size_t address_bytes(const struct sockaddr *address, bool loopback_too, unsigned char *out)
{
    if (address != NULL && address->sa_family == AF_INET) {
        const struct sockaddr_in *v4 = (const struct sockaddr_in *)(const void *)address;
        if (!loopback_too && ntohl(v4->sin_addr.s_addr) >> 24 == IN_LOOPBACKNET) {
            return 0;
        }
        memcpy(out, &v4->sin_addr, sizeof v4->sin_addr);
        return sizeof v4->sin_addr;
    }
    if (address != NULL && address->sa_family == AF_INET6) {
        const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)(const void *)address;
        if (!loopback_too && IN6_IS_ADDR_LOOPBACK(&v6->sin6_addr)) {
            return 0;
        }
        memcpy(out, &v6->sin6_addr, sizeof v6->sin6_addr);
        return sizeof v6->sin6_addr;
    }
    return 0;
}

static unsigned address_max(const struct http_server *server)
{
    if (server->options.connections_address_max > 0) {
        return server->options.connections_address_max;
    }
    const unsigned part = server->options.connections_max / ADDRESS_PART;
    return part > ADDRESS_MIN ? part : ADDRESS_MIN;
}

static void idle_add(struct http_server *server, struct http_conn *conn)
{
    must(!conn->idle);
    conn->idle = true;
    TAILQ_INSERT_TAIL(&server->idle, conn, idle_link);
    if (conn->address != NULL) {
        TAILQ_INSERT_TAIL(&conn->address->idle, conn, address_link);
    }
}

static void idle_remove(struct http_server *server, struct http_conn *conn)
{
    if (!conn->idle) {
        return;
    }
    conn->idle = false;
    TAILQ_REMOVE(&server->idle, conn, idle_link);
    if (conn->address != NULL) {
        TAILQ_REMOVE(&conn->address->idle, conn, address_link);
    }
}

/* Closes a connection that has no request. The library notices at its next run. */
static void give_up(struct http_server *server, struct http_conn *conn)
{
    idle_remove(server, conn);
    must(!conn->ending);
    conn->ending = true;
    server->ending++;
    server->given_up++;
    if (conn->address != NULL) {
        conn->address->count--;
    }
    (void)shutdown(conn->fd, SHUT_RDWR);
}

bool http_guard_over(const struct http_server *server, const struct http_conn *conn)
{
    return server->connections - server->ending > server->options.connections_max ||
           (conn->address != NULL && conn->address->count > address_max(server));
}

void http_guard_enter(struct http_server *server, struct http_conn *conn,
                      const struct sockaddr *peer)
{
    unsigned char bytes[sizeof(struct in6_addr)];
    const size_t len = address_bytes(peer, server->options.connections_address_max > 0, bytes);
    if (len > 0) {
        conn->address = map_get(server->addresses, bytes, len);
        if (conn->address == NULL) {
            conn->address = xcalloc(1, sizeof *conn->address);
            TAILQ_INIT(&conn->address->idle);
            conn->address->len = len;
            memcpy(conn->address->bytes, bytes, len);
            (void)map_put(server->addresses, bytes, len, conn->address);
        }
        conn->address->count++;
        conn->address->conns++;
    }
    conn->since_ms = loop_now_ms(server->options.loop);
    if (conn->address != NULL && conn->address->count > address_max(server) &&
        !TAILQ_EMPTY(&conn->address->idle)) {
        give_up(server, TAILQ_FIRST(&conn->address->idle));
    }
    if (server->connections - server->ending > server->options.connections_max &&
        !TAILQ_EMPTY(&server->idle)) {
        give_up(server, TAILQ_FIRST(&server->idle));
    }
    idle_add(server, conn);
}

void http_guard_leave(struct http_server *server, struct http_conn *conn)
{
    struct http_address *address = conn->address;
    idle_remove(server, conn);
    if (conn->ending) {
        server->ending--;
    } else if (address != NULL) {
        address->count--;
    }
    if (address != NULL && --address->conns == 0) {
        (void)map_remove(server->addresses, address->bytes, address->len);
        free(address);
    }
}

void http_guard_busy(struct http_conn *conn)
{
    idle_remove(conn->request->server, conn);
    conn->since_ms = loop_now_ms(conn->request->server->options.loop);
}

void http_guard_idle(struct http_server *server, struct http_conn *conn)
{
    conn->used = true;
    conn->head_begun = false;
    conn->bytes_known = false;
    conn->since_ms = loop_now_ms(server->options.loop);
    if (!conn->idle && !conn->ending) {
        idle_add(server, conn);
    }
}

/* ---- time limits ---- */

/* Has anything of the next head arrived on a connection that had a request before? */
static bool head_begun(struct http_conn *conn)
{
    struct tcp_info info = {0};
    socklen_t len = sizeof info;
    if (getsockopt(conn->fd, IPPROTO_TCP, TCP_INFO, &info, &len) != 0) {
        return false;
    }
    const bool more = conn->bytes_known && info.tcpi_bytes_received != conn->bytes;
    conn->bytes = info.tcpi_bytes_received;
    conn->bytes_known = true;
    return more;
}

static bool head_late(struct http_conn *conn, int64_t now_ms)
{
    if (conn->used && !conn->head_begun) {
        if (conn->request == NULL && !head_begun(conn)) {
            return false; /* the library's own time limit for idle connections holds */
        }
        conn->head_begun = true;
        conn->since_ms = now_ms;
    }
    return now_ms - conn->since_ms > HEAD_MS_MAX;
}

static bool body_late(const struct http_conn *conn, int64_t now_ms)
{
    const struct http_request *request = conn->request;
    const size_t bytes = request->response != NULL ? 0 : request->body.len;
    return now_ms - conn->since_ms > BODY_MS_MAX + (int64_t)(bytes * 1000 / BODY_BYTES_S);
}

void http_guard_look(struct http_server *server, struct http_conn *conn)
{
    const int64_t now_ms = loop_now_ms(server->options.loop);
    const struct http_request *request = conn->request;
    if (conn->ending) {
        return;
    }
    const bool heading = request == NULL || !request->head_seen;
    const bool reading = !heading && !request->complete;
    if ((heading && head_late(conn, now_ms)) || (reading && body_late(conn, now_ms))) {
        give_up(server, conn);
    }
}

void http_guard_told(struct http_server *server)
{
    if (server->given_up != server->given_up_told && server->options.on_given_up != NULL) {
        server->options.on_given_up(server->options.ctx, server->given_up - server->given_up_told);
        server->given_up_told = server->given_up;
    }
}
