/* server_tls.h - the server's certificate, and the authority that signs its nodes' certificates.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "io/http_tls.h"
#include "io/x509_make.h"
#include "server/server_options.h"

struct server_tls;

/* Finds the certificate: that of the options, else D/tls/server.pem. Without one, *ret is NULL. */
must_use enum err server_tls_open(const struct server_options *options, int64_t now_ms,
                                  struct server_tls **ret, struct error *e);
void server_tls_close(struct server_tls *tls); /* NULL is allowed */

/* Reads the certificate again. Logs what happened. */
void server_tls_reload(struct server_tls *tls);

/* Renews a certificate of `weir tls init` that ends within 30 days, or of whose life less than a third is left. Another certificate, or
 * one that cannot be renewed, is named in the log once a day. */
void server_tls_look(struct server_tls *tls);

struct http_tls *server_tls_http(const struct server_tls *tls); /* NULL for NULL */

/* Signs a node's request. *ret_renew_ms: after how long the node asks for its next certificate. */
must_use enum err server_tls_sign(const struct server_tls *tls, const char *request,
                                  const struct x509_node *node, struct arena *arena,
                                  const char **ret_pem, int64_t *ret_renew_ms, struct error *e);

/* "scheme://host:port" under which programs on this machine reach the server. */
const char *server_tls_url(const struct server_tls *tls, const char *address, unsigned port,
                           struct arena *arena);
