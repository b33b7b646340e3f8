/* http_request.h - a request and its answer.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/arena.h"
#include "base/str.h"

struct http_request;

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
