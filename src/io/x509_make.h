/* x509_make.h - makes keys, an authority, and certificates that the authority signs, as PEM text.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "io/x509.h"

/* Certificate and private key, both PEM, in the caller's arena. */
struct x509_pair {
    char *cert;
    char *key;
};

/* Makes the certificate and the key of a new authority. The certificate is valid for ten years, from one day before `now_ms`. */
must_use enum err x509_make_authority(int64_t now_ms, struct arena *arena, struct x509_pair *ret,
                                      struct error *e);

/* A certificate for these host names and IP addresses, valid from a day before now_ms,
 * so that a client whose clock is late by less than a day accepts it. The text has the authority's
 * certificate behind the server's. ERR_INVALID: a name is no host name. */
struct x509_server {
    const char *const *names;
    size_t name_count;
    int64_t now_ms;
    int64_t life_ms;
    const char *key; /* PEM; NULL: a new key is made */
};
must_use enum err x509_make_server(const struct x509_pair *authority,
                                   const struct x509_server *server, struct arena *arena,
                                   struct x509_pair *ret, struct error *e);

/* A new key, and the request for a certificate of that key: ret->cert is the request. */
must_use enum err x509_make_request(struct arena *arena, struct x509_pair *ret, struct error *e);

/* Signs the key of a request for a node. Nothing but the key is taken from the request. */
struct x509_node {
    const char *name;
    const char *credential; /* the id of the node's token */
    int64_t now_ms;
    int64_t life_ms;
};
must_use enum err x509_make_node(const struct x509_pair *authority, const char *request,
                                 const struct x509_node *node, struct arena *arena,
                                 const char **ret, struct error *e);
