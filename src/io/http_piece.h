/* http_piece.h - text that many streams are sent: a part of a file in memory, which the kernel sends
 * without a copy for each stream. Only http_stream.c, http_conn.c and http_request.c call this.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct http_request;

/* Asks the stream's pieces and sends them, as far as the socket takes them. False: the library has to
 * send what there is, because the stream has no pieces for now or the connection does not take any. */
bool http_piece_send(struct http_request *request);

/* The socket takes more. */
void http_piece_go_on(struct http_request *request);

/* The client has read nothing of a piece for too long. */
bool http_piece_late(const struct http_request *request, int64_t now_ms);

/* Gives up what is left of the piece. */
void http_piece_done(struct http_request *request);
