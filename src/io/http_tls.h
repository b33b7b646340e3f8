/* http_tls.h - the certificate with which an HTTP server speaks TLS 1.2 or 1.3, and the authority of
 * its nodes' certificates. SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/arena.h"
#include "base/fail.h"
#include "io/x509.h"

struct http_tls;
struct http_request;

struct http_tls_files {
    const char *cert; /* the server's certificate, with the chain behind it; PEM */
    const char *key;
    const char *nodes; /* certificate of the authority of the nodes */
};

/* Reads the files. ERR_INVALID: no PEM, or the key is not the certificate's; ERR_DENIED: everybody may
 * read the key. The paths are copied. */
must_use enum err http_tls_new(const struct http_tls_files *files, struct http_tls **ret,
                               struct error *e);
void http_tls_free(struct http_tls *tls); /* NULL is allowed */

/* Reads certificate and key again. Connections keep theirs; new ones get the new. After a failure
 * nothing has changed. */
must_use enum err http_tls_reload(struct http_tls *tls, struct error *e);

/* What clients need to know of the certificate in use. */
const struct x509_facts *http_tls_facts(const struct http_tls *tls);

/* The authority at the end of the certificate's chain, as PEM; NULL: the chain does not reach one. */
const char *http_tls_root(const struct http_tls *tls, struct arena *arena);

/* Is the certificate for this host? */
bool http_tls_has_name(const struct http_tls *tls, const char *host);

/* The certificate with which a node's agent made the connection. The signature is that of the authority
 * of the nodes; the caller compares names and dates. NULL: none, another one, or no TLS. */
struct http_node_cert {
    bool valid;
    char name[128];
    char credential[64]; /* id of the node's token */
    int64_t from_ms;
    int64_t until_ms;
    int64_t off_ms; /* how far the time of the request is outside the dates; 0: inside */
};
const struct http_node_cert *http_tls_node_cert(struct http_request *request);

/* Did the request come by TLS? */
bool http_tls_used(const struct http_request *request);
