/* http_head.h - strict reading of a request's head, beside libmicrohttpd's lenient one. See
 * docs/dev/adr/0017-strict-http-heads.md. SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct http_request;

/* Finds what another HTTP implementation could read differently: a line that does not end in CRLF, a
 * folded line, a NUL or control character, a name that is no token, a repeated Host, Content-Length,
 * Transfer-Encoding or Authorization, a length that is not all digits, a length beside an encoding.
 * Call once, when the head is in. Returns a sentence for the client; NULL: the head is in order. */
const char *http_head_fault(const struct http_request *request, const char *version);

/* May a field have this name? */
bool http_head_is_token(const char *name, size_t len);
