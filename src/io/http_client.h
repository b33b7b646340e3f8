/* http_client.h - blocking HTTP requests with timeouts, keep-alive, and line-wise streams. One
 * client per thread.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"

#include <stdbool.h>
#include <stdint.h>

struct http_client;

/* `url`: "http://127.0.0.1:8080"; `token` may be NULL. */
struct http_client *http_client_new(const char *url, const char *token);
void http_client_free(struct http_client *client);

struct http_call {
    const char *method;
    const char *path;            /* with query */
    struct str body;             /* sent as application/json when not empty */
    const char *idempotency_key; /* NULL: none */
    int64_t timeout_ms;          /* the whole call */
    int64_t retry_ms; /* keep trying this long when the server cannot be reached or answers 503 or
                         429; 0: once */
};

struct http_reply {
    unsigned status;
    struct str body;        /* in the caller's arena, NUL-terminated */
    int64_t retry_after_ms; /* from Retry-After; 0: none */
};

/* ERR_UNREACHABLE, ERR_TIMEOUT; any status is a reply, not a failure. */
must_use enum err http_client_call(struct http_client *client, const struct http_call *call,
                                   struct arena *arena, struct http_reply *ret, struct error *e);

/* A long answer, line by line (without the newline). The callback returns false to stop. `idle_ms`:
 * no byte for so long is ERR_TIMEOUT. A status other than 200 is returned in ret_status with its
 * body in `arena` as *ret_body. */
struct http_stream_call {
    struct http_call call;
    int64_t idle_ms;
    bool (*on_line)(void *ctx, struct str line);
    void *ctx;
    const volatile int *stop; /* NULL, or checked at least every 200 ms: non-zero ends the stream */
};
must_use enum err http_client_stream(struct http_client *client,
                                     const struct http_stream_call *call, struct arena *arena,
                                     struct http_reply *ret, struct error *e);
