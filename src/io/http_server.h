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
struct http_stream;

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

/* The request. All texts live as long as the request. */
const char *http_request_method(const struct http_request *request);

/* Decoded, without the query; valid UTF-8 without NUL. */
const char *http_request_path(const struct http_request *request);

/* Decoded value of the first parameter of this name; NULL: absent; "": no value. */
const char *http_request_query(const struct http_request *request, const char *name);
void http_request_query_each(const struct http_request *request,
                             void (*fn)(void *ctx, const char *name, const char *value), void *ctx);

/* NULL: absent. Names are compared without case. */
const char *http_request_header(const struct http_request *request, const char *name);
struct str http_request_body(const struct http_request *request);     /* NUL-terminated */
const char *http_request_peer(struct http_request *request);          /* address of the client */
struct arena *http_request_arena(struct http_request *request);       /* freed with the request */
void http_request_set_data(struct http_request *request, void *data); /* the handler's own */
void *http_request_data(const struct http_request *request);

/* Extra headers of the answer: before http_request_answer() or http_stream_begin(). Both texts are copied;
 * neither may be empty or hold a tab or line break; not for Content-Length. */
void http_request_answer_header(struct http_request *request, const char *name, const char *value);

/* The answer. `body` is copied. `content_type` NULL: none. Ends the request: it must not be used
 * after this call. */
void http_request_answer(struct http_request *request, unsigned status, const char *content_type,
                         struct str body);

/* An answer without known length that stays open. on_gone(ctx) is called once when the client has
 * left (closed its side, also while nothing is written); after it, or after http_stream_end(), the
 * stream is no more. Never buffers more than `bytes_max`: http_stream_write() then takes nothing,
 * returns false, and the caller should end it. Ends the request like http_request_answer(). */
struct http_stream *http_stream_begin(struct http_request *request, unsigned status,
                                      const char *content_type, size_t bytes_max,
                                      void (*on_gone)(void *ctx), void *ctx);

/* Copied; on its way to the client before the loop waits again. */
must_use bool http_stream_write(struct http_stream *stream, struct str data);

/* No more data; what is buffered is still delivered. on_gone is not called any more. */
void http_stream_end(struct http_stream *stream);

/* Bytes not yet taken by the socket. */
size_t http_stream_pending(const struct http_stream *stream);
