/* x509.h - certificates as PEM text: read and compared; x509_make.h makes them. No type of GnuTLS shows here.
 *
 *   authority (CA) ─signs─┬─▶ certificate of the server (names and addresses of the server)
 *                         └─▶ certificate of a node (name of the node, id of the node's credential)
 *
 * All keys are ECDSA P-256. A caller that holds the text of a private key wipes the text after use.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/arena.h"
#include "base/fail.h"
#include "base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    X509_FINGERPRINT_LEN = 64, /* hex digits of SHA-256 over the certificate's bytes */
    X509_PEM_MAX = 64 * 1024,  /* of a file with a key or a chain */
    X509_CHAIN_MAX = 8,
    X509_NAMES_MAX = 64,
    X509_NAME_LEN_MAX = 253,
    X509_EARLY_S = 24 * 60 * 60, /* certificates of Weir begin so much before they are made */
};

/* What a PEM text with one or more certificates says. */
struct x509_facts {
    char fingerprint[X509_FINGERPRINT_LEN + 1]; /* of the first certificate */
    /* Of the last certificate, when that is an authority that signed itself; else "". */
    char root[X509_FINGERPRINT_LEN + 1];
    int64_t from_ms; /* of the first certificate */
    int64_t until_ms;
    const char **names; /* DNS names and IP addresses of the first certificate */
    size_t name_count;
};
must_use enum err x509_read(const char *pem, struct arena *arena, struct x509_facts *ret,
                            struct error *e);

/* How long the certificate is valid, without X509_EARLY_S. */
int64_t x509_life_ms(const struct x509_facts *facts);

/* The certificate with this fingerprint out of a PEM text; NULL: none has it. */
const char *x509_find(const char *pem, const char *fingerprint, struct arena *arena);

/* Why a client with the authority `ca` and this clock cannot accept `chain` for `host`, with what
 * would help; "": nothing is wrong. */
void x509_fault(const char *chain, const char *ca, const char *host, int64_t now_ms, char *ret,
                size_t size);
