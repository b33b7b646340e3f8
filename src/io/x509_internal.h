/* x509_internal.h - GnuTLS objects out of PEM texts, for the files of io/ that use GnuTLS.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "io/x509.h"

#include <gnutls/abstract.h>
#include <gnutls/gnutls.h>
#include <gnutls/x509.h>

struct x509_chain {
    gnutls_x509_crt_t certs[X509_CHAIN_MAX];
    unsigned count;
};

/* ERR_INVALID: no certificate, or more than X509_CHAIN_MAX. */
must_use enum err x509_chain_read(const char *pem, struct x509_chain *ret, struct error *e);
void x509_chain_done(struct x509_chain *chain);

must_use enum err x509_key_read(const char *pem, gnutls_x509_privkey_t *ret, struct error *e);

void x509_fingerprint_of(gnutls_x509_crt_t cert, char *ret);

/* "libgnutls: TEXT", as ERR_INTERNAL. */
must_use enum err x509_failed(struct error *e, const char *what, int code);

/* A certificate or request as PEM in the arena. */
char *x509_pem_of(gnutls_x509_crt_t cert, struct arena *arena);
