/* http_stream.h - an answer that stays open.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/fail.h"
#include "base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct http_request;
struct http_stream;

/* Begins an answer without known length. on_gone(ctx) is called once when the client has left, also
 * while nothing is written. After on_gone or http_stream_end() the stream must not be used. The
 * stream buffers at most `bytes_max` bytes. Ends the request like http_request_answer(). */
struct http_stream *http_stream_begin(struct http_request *request, unsigned status,
                                      const char *content_type, size_t bytes_max,
                                      void (*on_gone)(void *ctx), void *ctx);

/* Copies `data`, which is sent before the loop waits again. False: the buffer has no room, nothing
 * was taken, and the caller should end the stream. */
must_use bool http_stream_write(struct http_stream *stream, struct str data);

/* Sets a source, which is asked for more whenever the buffer is empty and the socket takes more. The
 * source writes up to `max` bytes into `out` and returns how many; 0: nothing now, and
 * http_stream_wake() asks again. The source may write to the stream, but must not end it. */
typedef size_t (*http_source_fn)(void *ctx, char *out, size_t max);
void http_stream_source(struct http_stream *stream, http_source_fn source);
void http_stream_wake(struct http_stream *stream);

/* Sets where pieces come from: parts of files in memory, each of them whole chunks of HTTP (`5\r\nhello\r\n`).
 * `next` gives the next piece; false: there is none for now, and the source is asked. The same file
 * may serve many streams. A stream over TLS or HTTP/1.0 asks the source alone. */
struct http_piece {
    int fd;
    int64_t at;
    size_t len;
};
typedef bool (*http_piece_fn)(void *ctx, struct http_piece *ret);
void http_stream_pieces(struct http_stream *stream, http_piece_fn next);

/* Ends the stream. Buffered data is still delivered. on_gone is not called any more. */
void http_stream_end(struct http_stream *stream);

/* Like http_stream_end(), and the client sees that the answer is not whole: its last chunk is missing. */
void http_stream_break(struct http_stream *stream);

/* Bytes that the socket has not taken yet. */
size_t http_stream_pending(const struct http_stream *stream);
