/* http_stream.h - an answer that stays open.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/fail.h"
#include "base/str.h"

#include <stdbool.h>
#include <stddef.h>

struct http_request;
struct http_stream;

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
