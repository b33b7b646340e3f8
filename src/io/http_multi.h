/* http_multi.h - HTTP requests that do not block: many at once, on a loop. Takes nothing from the environment,
 * follows no redirect. SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/str.h"
#include "io/loop.h"

struct http_multi;

struct http_multi_reply {
    const char *failure; /* why no answer came, or none that is whole; NULL: an answer came */
    unsigned status;
    struct str body; /* with a NUL behind it */
};

struct http_multi_post {
    const char *url;            /* http or https */
    const char *method;         /* NULL: POST */
    const char *const *headers; /* "Name: value" lines, NULL at the end */
    struct str body;
    int64_t timeout_ms; /* from connecting to the last byte */
    size_t reply_max;   /* a longer answer is a failure */
    /* Called once, from the loop, never inside http_multi_post(). The reply is borrowed. */
    void (*done)(void *ctx, const struct http_multi_reply *reply);
    void *ctx;
};

struct http_multi *http_multi_new(struct loop *loop);

/* Drops the requests under way: their `done` is not called. NULL is allowed. */
void http_multi_free(struct http_multi *multi);

/* Sends a request. Everything is copied. A request on a kept connection that breaks is sent again, so send only
 * what may come twice. */
void http_multi_post(struct http_multi *multi, const struct http_multi_post *post);
