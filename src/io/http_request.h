/* http_request.h - a request and its answer.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/arena.h"
#include "base/buf.h"
#include "base/str.h"

#include <stdbool.h>

struct http_request;

/* The parts of the request. All texts live as long as the request. */
const char *http_request_method(const struct http_request *request);

/* The path, decoded and without the query: valid UTF-8 without NUL. */
const char *http_request_path(const struct http_request *request);

/* The decoded value of the first parameter of this name; NULL: absent; "": no value. */
const char *http_request_query(const struct http_request *request, const char *name);
void http_request_query_each(const struct http_request *request,
                             void (*fn)(void *ctx, const char *name, const char *value), void *ctx);

/* The value of a header; NULL: absent. Names are compared without case. */
const char *http_request_header(const struct http_request *request, const char *name);
/* The target as it was sent: path and query, not decoded. */
const char *http_request_target(const struct http_request *request);
/* Every header in order; a name may come several times. */
void http_request_header_each(const struct http_request *request,
                              void (*fn)(void *ctx, const char *name, const char *value),
                              void *ctx);
struct str http_request_body(const struct http_request *request); /* with a NUL behind it */
const char *http_request_peer(struct http_request *request);      /* the client's address */
/* The account of a client that came by a file on this machine, as the kernel says. False: by TCP. */
bool http_request_uid(const struct http_request *request, unsigned *ret_uid);
struct arena *http_request_arena(struct http_request *request); /* freed with the request */
/* For the handler's own use. */
void http_request_set_data(struct http_request *request, void *data);
void *http_request_data(const struct http_request *request);

/* Adds a header to the answer. Call before http_request_answer() or http_stream_begin(). Both
 * texts are copied. Neither text may be empty or hold a tab or line break. Content-Length cannot
 * be set. */
void http_request_answer_header(struct http_request *request, const char *name, const char *value);

/* Answers the request, which must not be used after this call. `body` is copied. `content_type`
 * NULL: no such header. */
void http_request_answer(struct http_request *request, unsigned status, const char *content_type,
                         struct str body);

/* The same without a copy: takes what `body` holds, and leaves it empty. */
void http_request_answer_take(struct http_request *request, unsigned status,
                              const char *content_type, struct buf *body);
