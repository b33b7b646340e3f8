/* http_client.h - blocking HTTP requests with timeouts and keep-alive, and streams read line by
 * line. Each thread has its own client. The client takes nothing from the environment, follows no
 * redirect and uses no signal. SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/arena.h"
#include "base/fail.h"
#include "base/str.h"
#include "io/http_again.h"
#include "io/http_trust.h"

#include <stdbool.h>
#include <stdint.h>

struct http_client;

enum {
    HTTP_REPLY_BYTES_MAX = 64 * 1024 * 1024,
    HTTP_LINE_BYTES_MAX = 16 * 1024 * 1024, /* of one line of a stream */
    HTTP_TIMEOUT_MS = 30 * 1000,            /* for a call that sets no time-out */
    HTTP_SLOW_CONNECT_MS = 700,
    HTTP_SLOW_ANSWER_MS = 5000,
};

/* `url` is http or https, for example "http://127.0.0.1:8080", or "unix:/path/of/a/socket". `token` may be NULL and is sent as
 * "Authorization: Bearer". Both texts are copied. The first call connects. */
struct http_client *http_client_new(const char *url, const char *token);
void http_client_free(struct http_client *client); /* NULL is allowed */

/* Sets another address, and the token for it; both are copied. Call only between calls, or from an
 * http_lost_fn. */
void http_client_aim(struct http_client *client, const char *url, const char *token);

/* Which certificates the client takes and shows from its next connection on. The paths are copied. */
void http_client_trust(struct http_client *client, const struct http_trust *trust);

/* Called on the calling thread, before a further try (http_call.retry_ms) at a server that could
 * not be reached. The callback may call http_client_aim() where the server has moved. */
typedef void (*http_lost_fn)(struct http_client *client);
void http_client_on_lost(struct http_client *client, http_lost_fn fn);

struct http_call {
    const char *method;
    const char *path; /* with the query */
    struct str body;
    const char *content_type;    /* of the body; NULL: application/json */
    const char *idempotency_key; /* NULL: none */
    /* True: the call does no harm when the server sees it twice. GET, HEAD, PUT, DELETE and calls
     * with an idempotency key always count as repeatable. Any other call is sent on a connection of
     * its own, which costs a round trip, because a kept connection may break after the server has
     * acted. */
    bool repeatable;
    const char *const *headers; /* further "Name: value" lines, NULL at the end; or NULL */
    int64_t timeout_ms; /* of one try, from connecting to the last byte; 0: HTTP_TIMEOUT_MS */
    /* How long to go on trying when the server cannot be reached. A repeatable call is also tried
     * again when the server answers 503 or 429, or breaks off. 0: one try. */
    int64_t retry_ms;
    /* NULL, or a flag that is read every 200 ms. Once the flag is not 0 the call gives up with
     * ERR_TIMEOUT, or with the result of the last try. */
    const volatile int *stop;
    /* NULL, or called once in each try that takes long: after HTTP_SLOW_CONNECT_MS without a
     * connection (`connected` is false), or HTTP_SLOW_ANSWER_MS without an answer. */
    void (*slow)(void *ctx, const char *url, bool connected);
    void *slow_ctx;
};

struct http_reply {
    unsigned status;
    struct str body;          /* in the caller's arena, with a NUL behind it */
    int64_t retry_after_ms;   /* from the header Retry-After; 0: none */
    char etag[HTTP_ETAG_MAX]; /* the header ETag; "": none */
};

/* ERR_UNREACHABLE, ERR_TIMEOUT, ERR_LIMIT (an answer above HTTP_REPLY_BYTES_MAX), ERR_DENIED (the
 * server's certificate), ERR_INVALID (url or token). Any HTTP status is a reply, not a failure. */
must_use enum err http_client_call(struct http_client *client, const struct http_call *call,
                                   struct arena *arena, struct http_reply *ret, struct error *e);

/* A long answer that is passed on line by line, without the newlines. `timeout_ms` and `retry_ms`
 * hold only until the answer's head has come. A stream that breaks later is not retried; the caller
 * must open it again. */
struct http_stream_call {
    struct http_call call;
    int64_t idle_ms; /* silence after which the stream ends with ERR_TIMEOUT; 0: never */
    bool (*on_line)(void *ctx, struct str line); /* returns false to stop */
    void *ctx;
    /* NULL, or a flag read every 200 ms and at each byte: not 0 ends the stream. */
    const volatile int *stop;
    /* readable once `stop` is set, so that the stream ends at once; 0: there is none */
    int stop_fd;
};

/* ERR_OK: the server, on_line or `stop` ended the stream; or the status is not 200, and *ret has
 * the body. ERR_UNREACHABLE: the stream could not be opened, or broke off. */
must_use enum err http_client_stream(struct http_client *client,
                                     const struct http_stream_call *call, struct arena *arena,
                                     struct http_reply *ret, struct error *e);
