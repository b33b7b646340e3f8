/* http_stream.c - answers that stay open: a bounded buffer between the writer and the library.
 *
 *   http_stream_write ─▶ out ─┬─▶ stream_read (called by the library) ─▶ socket
 *   source, when `out` is empty ┘
 *   pieces, while the library is suspended ─▶ http_piece.c ─▶ socket
 *
 * Holds (see README.md): H4 an empty stream is suspended in the library and costs nothing until it
 * is written to; H5 a client that leaves is noticed at once, because our own loop watches the
 * socket for EPOLLRDHUP. The library does not look at suspended connections.
 * SPDX-License-Identifier: Apache-2.0 */
#include "io/http_stream.h"

#include "base/mem.h"
#include "io/http_internal.h"
#include "io/http_piece.h"

#include <netinet/tcp.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>

enum {
    STREAM_BLOCK_BYTES = 1024,         /* per read for an HTTP/1.0 client, which gets no chunks */
    STREAM_KEEP_BYTES_MAX = 16 * 1024, /* an empty buffer larger than this is freed */
};

static struct http_request *request_of(struct http_stream *stream)
{
    return (struct http_request *)(void *)((char *)stream - offsetof(struct http_request, stream));
}

/* Pushes the answer's head out. The library sends the head of a chunked answer with MSG_MORE, and
 * the kernel holds the head back for up to 200 ms when no data follows. Setting TCP_NODELAY, even
 * again, makes the kernel send. */
static void head_push(struct http_request *request)
{
    int on = 1;
    (void)setsockopt(request->conn->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

/* Lets the library look at the stream, unless a piece is on its way. */
static void library_wake(struct http_request *request)
{
    if (request->stream.piece.len == 0) {
        http_server_resume(request);
    }
}

static size_t out_pending(const struct http_stream *stream)
{
    return stream->out.len - stream->out_sent;
}

static void out_empty(struct http_stream *stream)
{
    stream->out_sent = 0;
    if (stream->out.room > STREAM_KEEP_BYTES_MAX) {
        buf_done(&stream->out);
    }
    buf_clear(&stream->out);
}

/* Ends the connection by a write that fails, which ends it at once. The library's own calls would
 * leave the closed connection open until its time-out. */
static ssize_t write_that_fails(struct http_request *request, char *out)
{
    (void)shutdown(request->conn->fd, SHUT_WR);
    *out = '\n';
    return 1;
}

/* The library asks for up to `max` more bytes. */
static ssize_t stream_read(void *cls, uint64_t position, char *out, size_t max)
{
    (void)position;
    struct http_request *request = cls;
    struct http_stream *stream = &request->stream;
    if (request->lost) {
        return write_that_fails(request, out);
    }
    size_t len = out_pending(stream);
    if (len == 0 && stream->source != NULL && request->phase == HTTP_STREAMING) {
        out_empty(stream);
        len = stream->source(stream->ctx, out, max);
        if (len > 0) {
            return (ssize_t)len;
        }
        len = out_pending(stream);
    }
    if (len == 0) {
        out_empty(stream);
        if (request->phase == HTTP_ENDED) {
            return request->plain ? write_that_fails(request, out)
                                  : MHD_CONTENT_READER_END_OF_STREAM;
        }
        if (!stream->head_pushed) {
            stream->head_pushed = true;
            head_push(request);
        }
        request->suspended = true;
        MHD_suspend_connection(request->connection);
        return 0;
    }
    len = len < max ? len : max;
    memcpy(out, stream->out.data + stream->out_sent, len);
    stream->out_sent += len;
    return (ssize_t)len;
}

struct http_stream *http_stream_begin(struct http_request *request, unsigned status,
                                      const char *content_type, size_t bytes_max,
                                      void (*on_gone)(void *ctx), void *ctx)
{
    must(bytes_max > 0);
    struct MHD_Response *response = MHD_create_response_from_callback(
        MHD_SIZE_UNKNOWN, STREAM_BLOCK_BYTES, stream_read, request, NULL);
    http_request_respond(request, status, content_type, response);
    request->phase = HTTP_STREAMING;
    struct http_stream *stream = &request->stream;
    buf_init(&stream->out, bytes_max);
    stream->on_gone = on_gone;
    stream->ctx = ctx;
    http_conn_watch(request);
    return stream;
}

must_use bool http_stream_write(struct http_stream *stream, struct str data)
{
    struct http_request *request = request_of(stream);
    must(request->phase == HTTP_STREAMING);
    if (request->lost) {
        return true; /* on_gone will be called soon */
    }
    if (data.len > stream->out.max - out_pending(stream)) {
        return false;
    }
    if (data.len > stream->out.max - stream->out.len) {
        buf_drop(&stream->out, stream->out_sent);
        stream->out_sent = 0;
    }
    buf_add(&stream->out, data.p, data.len);
    must(!stream->out.full);
    library_wake(request);
    return true;
}

void http_stream_source(struct http_stream *stream, http_source_fn source)
{
    stream->source = source;
}

void http_stream_wake(struct http_stream *stream)
{
    struct http_request *request = request_of(stream);
    must(request->phase == HTTP_STREAMING);
    if (!request->lost && !http_piece_send(request)) {
        http_server_resume(request);
    }
}

void http_stream_pieces(struct http_stream *stream, http_piece_fn next)
{
    stream->pieces = next;
}

void http_stream_end(struct http_stream *stream)
{
    struct http_request *request = request_of(stream);
    must(request->phase == HTTP_STREAMING);
    request->phase = HTTP_ENDED;
    if (stream->piece.len > 0) { /* nothing that the library writes may follow half a chunk */
        request->lost = true;
        http_piece_done(request);
    }
    http_server_resume(request);
}

void http_stream_break(struct http_stream *stream)
{
    request_of(stream)->plain = true; /* ends by closing, without the last chunk */
    http_stream_end(stream);
}

size_t http_stream_pending(const struct http_stream *stream)
{
    return out_pending(stream) + stream->piece.len;
}
