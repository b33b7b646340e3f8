/* http_server.h - HTTP/1.1 on the loop's thread. A handler never waits: it answers, or parks the
 * request and answers later from the same thread. No type of the HTTP library shows here.
 *
 *   head arrives ─▶ on_head (may refuse, or gives the body limit) ─▶ body ─▶ on_request
 *       ├─▶ http_request_answer(), now or later
 *       └─▶ http_stream_begin() … http_stream_write() … http_stream_end()
 *
 * The server answers some requests without a handler, as {"error":{"code","message","path"}}:
 * malformed heads and targets (400, and the connection closes), a body over the route's limit (413),
 * more busy connections than connections_max (503). A head must be in after 10 s, and a body must come
 * with 1 KiB a second after its first 10 s; else the connection is closed. SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/arena.h"
#include "base/fail.h"
#include "base/str.h"
#include "io/http_tls.h"
#include "io/loop.h"

#include <stdbool.h>
#include <stdint.h>

struct http_server;
struct http_request;

enum {
    HTTP_HEAD_MAX = 16 * 1024, /* memory of a connection, which bounds request line and headers */
    HTTP_QUERY_MAX = 64,       /* parameters of one request */
    HTTP_IDLE_S_MIN = 75,
};

struct http_server_options {
    struct loop *loop;
    const char *address; /* for example "127.0.0.1" or "::1" */
    uint16_t port;       /* 0: any free port */
    int inherited;       /* above 0: a socket that listens already, in place of address and port */
    /* Not NULL: listens on this file (mode 0600) and not on an address. */
    const char *unix_path;
    /* Not NULL: TLS with this certificate; borrowed until the server is freed. */
    struct http_tls *tls;
    /* Connections in all; fewer where the process may not open so many files. Above a limit the
     * oldest connection without a request is closed; if there is none, the newest one gets 503. */
    unsigned connections_max;
    /* Connections from one address. 0: a quarter of connections_max, and no limit for loopback. */
    unsigned connections_address_max;
    unsigned idle_s; /* keep-alive idle time; at least HTTP_IDLE_S_MIN */
    /* The head of a request is in. Returns the number of body bytes that the route takes. May
     * refuse with http_request_answer(): then on_request is not called. NULL: no request may have a
     * body. */
    size_t (*on_head)(void *ctx, struct http_request *request);
    /* The whole request is in. Each request must get exactly one answer or stream, now or later. */
    void (*on_request)(void *ctx, struct http_request *request);
    /* The connection of a parked request ended. The server frees the request after this call. NULL
     * only for a server that never parks requests. */
    void (*on_gone)(void *ctx, struct http_request *request);
    /* Connections were given up: too many, or too slow. At most once a second. NULL is allowed. */
    void (*on_given_up)(void *ctx, uint64_t count);
    void *ctx;
};

/* Listens, and serves once the loop runs. ERR_CONFLICT: the port is taken. */
must_use enum err http_server_new(const struct http_server_options *options,
                                  struct http_server **ret, struct error *e);

/* Closes all connections; parked requests and open streams get their on_gone. Must not be called
 * inside a callback of the server. NULL is allowed. */
void http_server_free(struct http_server *server);

uint16_t http_server_port(const struct http_server *server);
unsigned http_server_connections(const struct http_server *server);
unsigned http_server_connections_max(const struct http_server *server); /* after all limits */
