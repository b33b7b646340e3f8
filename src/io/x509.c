/* x509.c - reads and compares certificates. x509_make.c makes them.
 * SPDX-License-Identifier: Apache-2.0 */
#include "io/x509.h"

#include "base/must.h"
#include "base/time_text.h"
#include "io/x509_internal.h"

#include <arpa/inet.h>
#include <string.h>

must_use enum err x509_failed(struct error *e, const char *what, int code)
{
    return fail(e, ERR_INTERNAL, "%s: %s", what, gnutls_strerror(code));
}

must_use enum err x509_chain_read(const char *pem, struct x509_chain *ret, struct error *e)
{
    gnutls_datum_t text = {(unsigned char *)(uintptr_t)pem, (unsigned)strlen(pem)};
    unsigned count = X509_CHAIN_MAX;
    int code = gnutls_x509_crt_list_import(ret->certs, &count, &text, GNUTLS_X509_FMT_PEM,
                                           GNUTLS_X509_CRT_LIST_IMPORT_FAIL_IF_EXCEED);
    if (code <= 0) {
        return fail(e, ERR_INVALID, "no certificate (PEM) that can be read: %s",
                    code == 0 ? "it is empty" : gnutls_strerror(code));
    }
    ret->count = (unsigned)code;
    return ERR_OK;
}

void x509_chain_done(struct x509_chain *chain)
{
    for (unsigned i = 0; i < chain->count; i++) {
        gnutls_x509_crt_deinit(chain->certs[i]);
    }
    chain->count = 0;
}

must_use enum err x509_key_read(const char *pem, gnutls_x509_privkey_t *ret, struct error *e)
{
    gnutls_datum_t text = {(unsigned char *)(uintptr_t)pem, (unsigned)strlen(pem)};
    must(gnutls_x509_privkey_init(ret) == 0);
    int code = gnutls_x509_privkey_import(*ret, &text, GNUTLS_X509_FMT_PEM);
    if (code != 0) {
        gnutls_x509_privkey_deinit(*ret);
        *ret = NULL;
        return fail(e, ERR_INVALID, "no private key (PEM, without a password) that can be read: %s",
                    gnutls_strerror(code));
    }
    return ERR_OK;
}

void x509_fingerprint_of(gnutls_x509_crt_t cert, char *ret)
{
    unsigned char hash[X509_FINGERPRINT_LEN / 2];
    size_t size = sizeof hash;
    must(gnutls_x509_crt_get_fingerprint(cert, GNUTLS_DIG_SHA256, hash, &size) == 0);
    must(size == sizeof hash);
    str_hex(ret, hash, sizeof hash);
}

char *x509_pem_of(gnutls_x509_crt_t cert, struct arena *arena)
{
    gnutls_datum_t text;
    must(gnutls_x509_crt_export2(cert, GNUTLS_X509_FMT_PEM, &text) == 0);
    char *copy = arena_strn(arena, (const char *)text.data, text.size);
    gnutls_free(text.data);
    return copy;
}

/* One alternative name of the certificate as text; NULL: there is none at this index, or it is of
 * another kind. */
static const char *name_at(gnutls_x509_crt_t cert, unsigned index, struct arena *arena,
                           bool *ret_end)
{
    char raw[X509_NAME_LEN_MAX + 1];
    char text[INET6_ADDRSTRLEN];
    size_t size = sizeof raw - 1;
    unsigned type = 0;
    int code = gnutls_x509_crt_get_subject_alt_name2(cert, index, raw, &size, &type, NULL);
    *ret_end = code == GNUTLS_E_REQUESTED_DATA_NOT_AVAILABLE;
    if (code < 0) {
        return NULL;
    }
    if (type == GNUTLS_SAN_DNSNAME) {
        return arena_strn(arena, raw, strnlen(raw, size));
    }
    if (type == GNUTLS_SAN_IPADDRESS && (size == 4 || size == 16)) {
        must(inet_ntop(size == 4 ? AF_INET : AF_INET6, raw, text, sizeof text) != NULL);
        return arena_str(arena, text);
    }
    return NULL;
}

must_use enum err x509_read(const char *pem, struct arena *arena, struct x509_facts *ret,
                            struct error *e)
{
    struct x509_chain chain;
    enum err r = x509_chain_read(pem, &chain, e);
    if (r != ERR_OK) {
        return r;
    }
    *ret = (struct x509_facts){.names = arena_new(arena, const char *, X509_NAMES_MAX)};
    gnutls_x509_crt_t first = chain.certs[0];
    gnutls_x509_crt_t last = chain.certs[chain.count - 1];
    x509_fingerprint_of(first, ret->fingerprint);
    if (gnutls_x509_crt_check_issuer(last, last) != 0 &&
        gnutls_x509_crt_get_ca_status(last, NULL) > 0) {
        x509_fingerprint_of(last, ret->root);
    }
    ret->from_ms = (int64_t)gnutls_x509_crt_get_activation_time(first) * 1000;
    ret->until_ms = (int64_t)gnutls_x509_crt_get_expiration_time(first) * 1000;
    bool end = false;
    for (unsigned i = 0; !end && ret->name_count < X509_NAMES_MAX; i++) {
        const char *name = name_at(first, i, arena, &end);
        if (name != NULL) {
            ret->names[ret->name_count++] = name;
        }
    }
    x509_chain_done(&chain);
    return ERR_OK;
}

int64_t x509_life_ms(const struct x509_facts *facts)
{
    const int64_t life_ms = facts->until_ms - facts->from_ms - (int64_t)X509_EARLY_S * 1000;
    return life_ms > 0 ? life_ms : 0;
}

const char *x509_find(const char *pem, const char *fingerprint, struct arena *arena)
{
    struct x509_chain chain;
    const char *found = NULL;
    if (x509_chain_read(pem, &chain, NULL) != ERR_OK) {
        return NULL;
    }
    for (unsigned i = 0; i < chain.count && found == NULL; i++) {
        char have[X509_FINGERPRINT_LEN + 1];
        x509_fingerprint_of(chain.certs[i], have);
        if (strcmp(have, fingerprint) == 0) {
            found = x509_pem_of(chain.certs[i], arena);
        }
    }
    x509_chain_done(&chain);
    return found;
}

static const char *day(int64_t ms, char *out)
{
    time_text(ms, out);
    return out;
}

/* Says what is wrong with the dates of the server's certificate; false: nothing. */
static bool dates_fault(gnutls_x509_crt_t cert, int64_t now_ms, char *ret, size_t size)
{
    char when[TIME_TEXT_MAX];
    char now[TIME_TEXT_MAX];
    int64_t from_ms = (int64_t)gnutls_x509_crt_get_activation_time(cert) * 1000;
    int64_t until_ms = (int64_t)gnutls_x509_crt_get_expiration_time(cert) * 1000;
    if (now_ms < from_ms) {
        (void)snprintf(
            ret, size,
            "its certificate is valid only from %s, and this machine's clock says %s; set "
            "the clock",
            day(from_ms, when), day(now_ms, now));
        return true;
    }
    if (now_ms > until_ms) {
        (void)snprintf(
            ret, size,
            "its certificate expired at %s (clock here: %s); set the clock, or say `weir "
            "tls init --renew` on the server",
            day(until_ms, when), day(now_ms, now));
        return true;
    }
    return false;
}

void x509_fault(const char *chain_pem, const char *ca_pem, const char *host, int64_t now_ms,
                char *ret, size_t size)
{
    struct x509_chain chain = {.count = 0};
    struct x509_chain ca = {.count = 0};
    unsigned status = 0;
    ret[0] = '\0';
    if (x509_chain_read(chain_pem, &chain, NULL) != ERR_OK) {
        return;
    }
    if (ca_pem != NULL && x509_chain_read(ca_pem, &ca, NULL) == ERR_OK &&
        gnutls_x509_crt_list_verify(chain.certs, chain.count, ca.certs, ca.count, NULL, 0,
                                    GNUTLS_VERIFY_DISABLE_TIME_CHECKS, &status) == 0 &&
        status != 0) {
        (void)snprintf(
            ret, size,
            "another authority signed its certificate: somebody may be in between, or the server "
            "was set up anew; ask its administrator for a new token");
    } else if (!dates_fault(chain.certs[0], now_ms, ret, size) &&
               gnutls_x509_crt_check_hostname(chain.certs[0], host) == 0) {
        (void)snprintf(
            ret, size,
            "its certificate is not for '%.60s'; use a name that `weir tls show` shows on "
            "the server, or say `weir tls init --renew NAME…` there",
            host);
    }
    x509_chain_done(&ca);
    x509_chain_done(&chain);
}
