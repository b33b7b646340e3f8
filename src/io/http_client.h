/* http_client.h - blocking HTTP requests with timeouts, keep-alive, and line-wise streams. One
 * client per thread. Nothing is taken from the environment, no redirect is followed, no signal is
 * used.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/arena.h"
#include "base/fail.h"
#include "base/str.h"

#include <stdbool.h>
#include <stdint.h>

struct http_client;

enum {
    HTTP_REPLY_BYTES_MAX = 64 * 1024 * 1024,
    HTTP_LINE_BYTES_MAX = 16 * 1024 * 1024, /* of a stream */
    HTTP_TIMEOUT_MS = 30 * 1000,            /* where a call gives none */
};

/* `url`: "http://127.0.0.1:8080", http or https; `token` may be NULL and is sent as
 * "Authorization: Bearer". Both are copied. Connects at the first call. */
struct http_client *http_client_new(const char *url, const char *token);
void http_client_free(struct http_client *client); /* NULL is fine */

/* Another address, and the token for it; both are copied. Not while a call runs, but in `fn` below. */
void http_client_aim(struct http_client *client, const char *url, const char *token);

/* Called before a further try (http_call.retry_ms) at a server that could not be reached: a place
 * for http_client_aim() where the server may have moved. On the thread that calls. */
typedef void (*http_lost_fn)(struct http_client *client);
void http_client_on_lost(struct http_client *client, http_lost_fn fn);

struct http_call {
    const char *method;
    const char *path;            /* with query */
    struct str body;             /* sent as application/json when not empty */
    const char *idempotency_key; /* NULL: none */
    /* It does no harm when the server sees this call twice, as if it had a key. GET, HEAD, PUT and
     * DELETE always count so. Any other call is sent on a connection of its own, which costs a
     * round trip, because one kept open may break after the server has acted. */
    bool repeatable;
    const char *const *headers; /* further "Name: value" lines, ended by NULL; or NULL */
    int64_t timeout_ms;         /* one try, from connecting to the last byte; 0: HTTP_TIMEOUT_MS */
    int64_t retry_ms; /* keep trying this long when the server cannot be reached or, if the call may
                         be repeated, answers 503 or 429 or breaks off; 0: once */
    const volatile int *stop; /* NULL, or looked at every 200 ms: non-zero gives up (ERR_TIMEOUT, or
                                 what the last try gave) */
};

struct http_reply {
    unsigned status;
    struct str body;        /* in the caller's arena, NUL-terminated */
    int64_t retry_after_ms; /* from Retry-After; 0: none */
};

/* ERR_UNREACHABLE, ERR_TIMEOUT, ERR_LIMIT (an answer above HTTP_REPLY_BYTES_MAX), ERR_DENIED (the
 * certificate), ERR_INVALID (url or token); any status is a reply, not a failure. */
must_use enum err http_client_call(struct http_client *client, const struct http_call *call,
                                   struct arena *arena, struct http_reply *ret, struct error *e);

/* A long answer, line by line (without the newline). `timeout_ms` bounds the wait for its head
 * only; `retry_ms` likewise: a stream that breaks later is the caller's to open again. */
struct http_stream_call {
    struct http_call call;
    int64_t idle_ms;                             /* no byte for so long is ERR_TIMEOUT; 0: never */
    bool (*on_line)(void *ctx, struct str line); /* returns false to stop */
    void *ctx;
    const volatile int
        *stop; /* NULL, or looked at every 200 ms and at each byte: non-zero ends it */
};

/* ERR_OK: the server ended the stream, on_line or `stop` did; or the status is not 200, and *ret has
 * its body. ERR_UNREACHABLE: it could not be opened, or broke off. */
must_use enum err http_client_stream(struct http_client *client,
                                     const struct http_stream_call *call, struct arena *arena,
                                     struct http_reply *ret, struct error *e);
