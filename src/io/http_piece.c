/* http_piece.c - see http_piece.h.
 *
 *   the library has the connection ──suspended──▶ pieces ──▶ sendfile() ──▶ socket
 *               ▲                                   │ a part is left: EPOLLOUT goes on
 *               └──────────── resumed ──────────────┘ only between two pieces
 *
 * A piece is whole chunks of HTTP, so the library and the pieces may take turns. The library is not
 * resumed inside a piece. A stream that ends inside a piece ends its connection, and the client sees
 * that the answer is not whole. SPDX-License-Identifier: Apache-2.0 */
#include "io/http_piece.h"

#include "base/mem.h"
#include "io/http_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/sendfile.h>
#include <unistd.h>

enum {
    PIECE_TURN_BYTES =
        1024 * 1024, /* that one stream is sent before other callbacks have their turn */
    MS_PER_S = 1000,
};

/* The library has sent all that it was given and waits; the bytes go to the socket as they are. */
static bool takes_pieces(const struct http_request *request)
{
    const struct http_stream *stream = &request->stream;
    return stream->pieces != NULL && request->phase == HTTP_STREAMING && request->suspended &&
           stream->head_pushed && stream->out.len == stream->out_sent && !request->plain &&
           request->server->options.tls == NULL && request->watch != NULL;
}

void http_piece_done(struct http_request *request)
{
    struct http_stream *stream = &request->stream;
    if (stream->piece_kept) {
        (void)close(stream->piece.fd);
    }
    stream->piece_kept = false;
    stream->piece = (struct http_piece){.fd = -1};
}

/* The connection is of no use any more: the library closes it when it is resumed. */
static void broken(struct http_request *request)
{
    http_piece_done(request);
    request->lost = true;
    http_server_resume(request);
}

/* The owner of the file may close it while a part is left. */
static bool keep(struct http_stream *stream)
{
    if (!stream->piece_kept) {
        stream->piece.fd = fcntl(stream->piece.fd, F_DUPFD_CLOEXEC, 0);
        stream->piece_kept = stream->piece.fd >= 0;
    }
    return stream->piece_kept;
}

static void wait_for_room(struct http_request *request)
{
    if (!keep(&request->stream)) {
        broken(request);
        return;
    }
    loop_fd_change(request->watch, EPOLLRDHUP | EPOLLOUT);
}

/* Sends up to `max` bytes of the piece. Negative: the connection is broken. */
static ssize_t piece_push(struct http_request *request, size_t max)
{
    struct http_stream *stream = &request->stream;
    off_t at = stream->piece.at;
    ssize_t sent;
    do {
        sent = sendfile(request->conn->fd, stream->piece.fd, &at,
                        stream->piece.len < max ? stream->piece.len : max);
    } while (sent < 0 && errno == EINTR);
    if (sent < 0) {
        return errno == EAGAIN ? 0 : -1;
    }
    stream->piece.at += sent;
    stream->piece.len -= (size_t)sent;
    if (sent > 0) {
        stream->piece_ms = loop_now_ms(request->server->options.loop);
    }
    return sent;
}

bool http_piece_send(struct http_request *request)
{
    struct http_stream *stream = &request->stream;
    if (stream->piece.len > 0) {
        return true; /* EPOLLOUT goes on */
    }
    if (!takes_pieces(request)) {
        return false;
    }
    size_t sent = 0;
    while (stream->piece.len > 0 || stream->pieces(stream->ctx, &stream->piece)) {
        if (sent == 0) {
            stream->piece_ms = loop_now_ms(request->server->options.loop);
        }
        const ssize_t n = stream->piece.len == 0 ? 0 : piece_push(request, PIECE_TURN_BYTES - sent);
        if (n < 0) {
            broken(request);
            return true;
        }
        sent += (size_t)n;
        if (stream->piece.len > 0) {
            wait_for_room(request);
            return true;
        }
    }
    return sent > 0;
}

void http_piece_go_on(struct http_request *request)
{
    struct http_stream *stream = &request->stream;
    if (stream->piece.len == 0) {
        return;
    }
    if (piece_push(request, PIECE_TURN_BYTES) < 0) {
        broken(request);
        return;
    }
    if (stream->piece.len > 0) {
        return;
    }
    http_piece_done(request);
    loop_fd_change(request->watch, EPOLLRDHUP);
    if (!http_piece_send(request)) {
        http_server_resume(request); /* what was written meanwhile, and what the source has */
    }
}

bool http_piece_late(const struct http_request *request, int64_t now_ms)
{
    unsigned idle_s = request->server->options.idle_s;
    idle_s = idle_s < HTTP_IDLE_S_MIN ? HTTP_IDLE_S_MIN : idle_s;
    return request->stream.piece.len > 0 &&
           now_ms - request->stream.piece_ms > (int64_t)idle_s * MS_PER_S;
}
