/* http_trust.h - which certificates an HTTP client takes, and which it shows.
 *
 * A fingerprint names the authority that signed the server's certificate. The server sends the authority
 * along at each handshake, so whoever has the fingerprint can get the authority from the server itself,
 * and no file is copied. No secret is sent on the connection that gets the authority.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/arena.h"
#include "base/fail.h"
#include "io/x509.h"

/* All paths of PEM files. NULL in `ca`: the system's authorities. With a fingerprint, the client gets
 * the authority from the server and writes the file `ca`, where the file does not hold it yet. The
 * directory of the file must exist. */
struct http_trust {
    const char *ca;
    const char *fingerprint; /* NULL: none is known, and the file must be there */
    const char *cert;        /* the client's own certificate; NULL: none */
    const char *key;
};

enum { HTTP_TRUST_MS = 10 * 1000 };

/* Gets the authority with this fingerprint from the server. ERR_DENIED: the server has another one. */
must_use enum err http_trust_fetch(const char *url, const char *fingerprint, struct arena *arena,
                                   const char **ret_pem, struct error *e);

/* Finds out why the server's certificate was refused, and fails with the reason. */
enum err http_trust_failed(const char *url, const char *ca_path, const char *text, struct error *e);

/* Splits "TOKEN.FINGERPRINT". *ret_fingerprint is NULL where the token carries none. */
void http_trust_split(const char *token, struct arena *arena, const char **ret_token,
                      const char **ret_fingerprint);
