/* x509_make.c - makes keys, an authority, and what the authority signs.
 *
 * Surprising: certificates begin a day before they are made. A client whose clock is late by less than
 * a day accepts them. SPDX-License-Identifier: Apache-2.0 */
#include "io/x509_make.h"

#include "base/must.h"
#include "io/x509_internal.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <gnutls/crypto.h>
#include <string.h>

enum { SERIAL_BYTES = 16, DAY_S = 24 * 60 * 60, AUTHORITY_DAYS = 3652, VERSION_3 = 3 };

#define OID_SERIAL_NUMBER "2.5.4.5"

static gnutls_x509_privkey_t key_new(void)
{
    gnutls_x509_privkey_t key;
    must(gnutls_x509_privkey_init(&key) == 0);
    must(gnutls_x509_privkey_generate(key, GNUTLS_PK_ECDSA,
                                      GNUTLS_CURVE_TO_BITS(GNUTLS_ECC_CURVE_SECP256R1), 0) == 0);
    return key;
}

static char *key_pem(gnutls_x509_privkey_t key, struct arena *arena)
{
    gnutls_datum_t text;
    must(gnutls_x509_privkey_export2_pkcs8(key, GNUTLS_X509_FMT_PEM, NULL, GNUTLS_PKCS_PLAIN,
                                           &text) == 0);
    char *copy = arena_strn(arena, (const char *)text.data, text.size);
    gnutls_memset(text.data, 0, text.size);
    gnutls_free(text.data);
    return copy;
}

/* An unsigned certificate with a random serial number and these dates. */
static gnutls_x509_crt_t cert_new(const char *name, int64_t now_ms, int64_t life_s)
{
    gnutls_x509_crt_t cert;
    unsigned char serial[SERIAL_BYTES];
    must(gnutls_rnd(GNUTLS_RND_NONCE, serial, sizeof serial) == 0);
    serial[0] = (unsigned char)((serial[0] & 0x7f) | 0x40); /* positive, and of fixed length */
    must(gnutls_x509_crt_init(&cert) == 0);
    must(gnutls_x509_crt_set_version(cert, VERSION_3) == 0);
    must(gnutls_x509_crt_set_serial(cert, serial, sizeof serial) == 0);
    must(gnutls_x509_crt_set_activation_time(cert, (time_t)(now_ms / 1000 - X509_EARLY_S)) == 0);
    must(gnutls_x509_crt_set_expiration_time(cert, (time_t)(now_ms / 1000 + life_s)) == 0);
    must(gnutls_x509_crt_set_dn_by_oid(cert, GNUTLS_OID_X520_COMMON_NAME, 0, name,
                                       (unsigned)strlen(name)) == 0);
    return cert;
}

static void key_id_set(gnutls_x509_crt_t cert)
{
    unsigned char id[64];
    size_t size = sizeof id;
    must(gnutls_x509_crt_get_key_id(cert, GNUTLS_KEYID_USE_SHA256, id, &size) == 0);
    must(gnutls_x509_crt_set_subject_key_id(cert, id, 20) == 0);
}

must_use enum err x509_make_authority(int64_t now_ms, struct arena *arena, struct x509_pair *ret,
                                      struct error *e)
{
    gnutls_x509_privkey_t key = key_new();
    gnutls_x509_crt_t cert = cert_new("Weir", now_ms, (int64_t)AUTHORITY_DAYS * DAY_S);
    must(gnutls_x509_crt_set_key(cert, key) == 0);
    must(gnutls_x509_crt_set_basic_constraints(cert, 1, 0) == 0);
    must(gnutls_x509_crt_set_key_usage(cert, GNUTLS_KEY_KEY_CERT_SIGN | GNUTLS_KEY_CRL_SIGN) == 0);
    key_id_set(cert);
    int code = gnutls_x509_crt_sign2(cert, cert, key, GNUTLS_DIG_SHA256, 0);
    if (code == 0) {
        *ret = (struct x509_pair){.cert = x509_pem_of(cert, arena), .key = key_pem(key, arena)};
    }
    gnutls_x509_crt_deinit(cert);
    gnutls_x509_privkey_deinit(key);
    return code == 0 ? ERR_OK : x509_failed(e, "cannot sign", code);
}

/* Signs `cert` with the authority. *ret: the certificate, followed by the authority's when `chained`. */
static must_use enum err authority_sign(const struct x509_pair *authority, gnutls_x509_crt_t cert,
                                        bool chained, struct arena *arena, char **ret,
                                        struct error *e)
{
    struct x509_chain issuer;
    gnutls_x509_privkey_t key = NULL;
    unsigned char id[64];
    size_t size = sizeof id;
    enum err r = x509_chain_read(authority->cert, &issuer, e);
    if (r != ERR_OK) {
        return fail_in(e, "the authority");
    }
    r = x509_key_read(authority->key, &key, e);
    if (r == ERR_OK) {
        key_id_set(cert);
        must(gnutls_x509_crt_set_basic_constraints(cert, 0, -1) == 0);
        must(gnutls_x509_crt_set_key_usage(cert, GNUTLS_KEY_DIGITAL_SIGNATURE) == 0);
        if (gnutls_x509_crt_get_subject_key_id(issuer.certs[0], id, &size, NULL) == 0) {
            must(gnutls_x509_crt_set_authority_key_id(cert, id, size) == 0);
        }
        int code = gnutls_x509_crt_sign2(cert, issuer.certs[0], key, GNUTLS_DIG_SHA256, 0);
        r = code == 0 ? ERR_OK : x509_failed(e, "the authority cannot sign", code);
    }
    if (r == ERR_OK) {
        char *pem = x509_pem_of(cert, arena);
        *ret = chained ? arena_fmt(arena, "%s%s", pem, authority->cert) : pem;
    }
    gnutls_x509_privkey_deinit(key);
    x509_chain_done(&issuer);
    return r;
}

static bool host_name_is(const char *name)
{
    size_t len = strlen(name);
    if (len == 0 || len > X509_NAME_LEN_MAX || name[0] == '-' || name[0] == '.') {
        return false;
    }
    for (size_t i = 0; i < len; i++) {
        bool wild = name[i] == '*' && i == 0 && name[1] == '.';
        if (isalnum((unsigned char)name[i]) == 0 && strchr("-.", name[i]) == NULL && !wild) {
            return false;
        }
    }
    return true;
}

static must_use enum err name_add(gnutls_x509_crt_t cert, const char *name, struct error *e)
{
    unsigned char address[sizeof(struct in6_addr)];
    unsigned type = GNUTLS_SAN_IPADDRESS;
    const void *data = address;
    unsigned size = 0;
    if (inet_pton(AF_INET, name, address) == 1) {
        size = sizeof(struct in_addr);
    } else if (inet_pton(AF_INET6, name, address) == 1) {
        size = sizeof(struct in6_addr);
    } else if (host_name_is(name)) {
        type = GNUTLS_SAN_DNSNAME;
        data = name;
        size = (unsigned)strlen(name);
    } else {
        return fail(e, ERR_INVALID,
                    "'%.80s' is no host name and no IP address; node1.example or 10.0.0.1 would do",
                    name);
    }
    must(gnutls_x509_crt_set_subject_alt_name(cert, type, data, size, GNUTLS_FSAN_APPEND) == 0);
    return ERR_OK;
}

must_use enum err x509_make_server(const struct x509_pair *authority,
                                   const struct x509_server *server, struct arena *arena,
                                   struct x509_pair *ret, struct error *e)
{
    char *chain = NULL;
    if (server->name_count == 0 || server->name_count > X509_NAMES_MAX) {
        return fail(e, ERR_LIMIT, "a certificate has 1 to %d names, not %zu", X509_NAMES_MAX,
                    server->name_count);
    }
    gnutls_x509_privkey_t key = NULL;
    enum err r = ERR_OK;
    if (server->key == NULL) {
        key = key_new();
    } else {
        r = x509_key_read(server->key, &key, e);
    }
    if (r != ERR_OK) {
        return fail_in(e, "the key of the old certificate");
    }
    gnutls_x509_crt_t cert = cert_new("Weir server", server->now_ms, server->life_ms / 1000);
    must(gnutls_x509_crt_set_key(cert, key) == 0);
    must(gnutls_x509_crt_set_key_purpose_oid(cert, GNUTLS_KP_TLS_WWW_SERVER, 0) == 0);
    for (size_t i = 0; r == ERR_OK && i < server->name_count; i++) {
        r = name_add(cert, server->names[i], e);
    }
    r = r == ERR_OK ? authority_sign(authority, cert, true, arena, &chain, e) : r;
    if (r == ERR_OK) {
        *ret = (struct x509_pair){.cert = chain, .key = key_pem(key, arena)};
    }
    gnutls_x509_crt_deinit(cert);
    gnutls_x509_privkey_deinit(key);
    return r;
}

must_use enum err x509_make_request(struct arena *arena, struct x509_pair *ret, struct error *e)
{
    gnutls_x509_privkey_t key = key_new();
    gnutls_x509_crq_t request;
    gnutls_datum_t text;
    must(gnutls_x509_crq_init(&request) == 0);
    must(gnutls_x509_crq_set_version(request, 1) == 0);
    must(gnutls_x509_crq_set_key(request, key) == 0);
    int code = gnutls_x509_crq_sign2(request, key, GNUTLS_DIG_SHA256, 0);
    if (code == 0) {
        must(gnutls_x509_crq_export2(request, GNUTLS_X509_FMT_PEM, &text) == 0);
        *ret = (struct x509_pair){.cert = arena_strn(arena, (const char *)text.data, text.size),
                                  .key = key_pem(key, arena)};
        gnutls_free(text.data);
    }
    gnutls_x509_crq_deinit(request);
    gnutls_x509_privkey_deinit(key);
    return code == 0 ? ERR_OK : x509_failed(e, "cannot sign", code);
}

/* The request is from a machine that may be hostile: it must be signed by its own key, and the key must
 * be one that is made here. */
static must_use enum err request_read(const char *pem, gnutls_x509_crq_t *ret, struct error *e)
{
    gnutls_datum_t text = {(unsigned char *)(uintptr_t)pem, (unsigned)strlen(pem)};
    unsigned bits = 0;
    must(gnutls_x509_crq_init(ret) == 0);
    int code = gnutls_x509_crq_import(*ret, &text, GNUTLS_X509_FMT_PEM);
    if (code == 0) {
        code = gnutls_x509_crq_verify(*ret, 0);
    }
    if (code == 0 && gnutls_x509_crq_get_pk_algorithm(*ret, &bits) == GNUTLS_PK_ECDSA) {
        return ERR_OK;
    }
    gnutls_x509_crq_deinit(*ret);
    return fail(e, ERR_INVALID, "no request (PEM) for a certificate of an ECDSA key: %s",
                code == 0 ? "another kind of key" : gnutls_strerror(code));
}

must_use enum err x509_make_node(const struct x509_pair *authority, const char *request_pem,
                                 const struct x509_node *node, struct arena *arena,
                                 const char **ret, struct error *e)
{
    gnutls_x509_crq_t request;
    char *pem = NULL;
    enum err r = request_read(request_pem, &request, e);
    if (r != ERR_OK) {
        return r;
    }
    gnutls_pubkey_t key;
    must(gnutls_pubkey_init(&key) == 0);
    gnutls_x509_crt_t cert = cert_new(node->name, node->now_ms, node->life_ms / 1000);
    must(gnutls_pubkey_import_x509_crq(key, request, 0) == 0);
    must(gnutls_x509_crt_set_pubkey(cert, key) == 0);
    must(gnutls_x509_crt_set_dn_by_oid(cert, OID_SERIAL_NUMBER, 0, node->credential,
                                       (unsigned)strlen(node->credential)) == 0);
    must(gnutls_x509_crt_set_key_purpose_oid(cert, GNUTLS_KP_TLS_WWW_CLIENT, 0) == 0);
    r = authority_sign(authority, cert, false, arena, &pem, e);
    if (r == ERR_OK) {
        *ret = pem;
    }
    gnutls_pubkey_deinit(key);
    gnutls_x509_crt_deinit(cert);
    gnutls_x509_crq_deinit(request);
    return r;
}
