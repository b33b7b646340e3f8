/* http_server.h - HTTP/1.1 on the loop's thread. A handler never waits: it answers, or parks the
 * request and answers later (from the same thread). No type of the library behind it shows here.
 *
 *   head arrives ─▶ on_head (may refuse, or gives the body limit) ─▶ body ─▶ on_request
 *       ├─▶ http_request_answer(), now or later
 *       └─▶ http_stream_begin() … http_stream_write() … http_stream_end()
 *
 * Answered here, without a handler, as {"error":{"code","message","path"}}: malformed targets and
 * framing (400), a body over the route's limit (413), more connections than connections_max (503).
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/arena.h"
#include "base/fail.h"
#include "base/str.h"
#include "io/loop.h"

#include <stdbool.h>
#include <stdint.h>

struct http_server;
struct http_request;

enum {
    HTTP_HEAD_MAX = 16 * 1024, /* memory of a connection: bounds request line and headers */
    HTTP_QUERY_MAX = 64,       /* parameters of one request */
    HTTP_IDLE_S_MIN = 75,
};

struct http_server_options {
    struct loop *loop;
    const char *address; /* "127.0.0.1", "::1" */
    uint16_t port;       /* 0: any */
    unsigned connections_max;
    unsigned idle_s; /* keep-alive idle time; HTTP_IDLE_S_MIN when smaller */
    /* The head is in. Return the number of body bytes this route takes; answer with http_request_answer()
     * to refuse early: then on_request is not called. NULL: no bodies. */
    size_t (*on_head)(void *ctx, struct http_request *request);
    /* The whole request is in. Must end in exactly one answer or stream, now or later. */
    void (*on_request)(void *ctx, struct http_request *request);
    /* A parked request's connection went away: forget it; it is freed after this call. NULL: no
     * interest (only for servers that never park). */
    void (*on_gone)(void *ctx, struct http_request *request);
    void *ctx;
};

/* Listens, and serves once the loop runs. ERR_CONFLICT: the port is taken. */
must_use enum err http_server_new(const struct http_server_options *options,
                                  struct http_server **ret, struct error *e);

/* Closes all connections; parked requests and open streams get their on_gone. Not from inside a
 * callback of the server. NULL is fine. */
void http_server_free(struct http_server *server);

uint16_t http_server_port(const struct http_server *server);
unsigned http_server_connections(const struct http_server *server);
