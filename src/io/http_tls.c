/* http_tls.c - see http_tls.h. libmicrohttpd asks for the certificate at each handshake, so a new one
 * is used from the next connection on. SPDX-License-Identifier: Apache-2.0 */
#include "io/http_tls.h"

#include "base/mem.h"
#include "io/http_internal.h"
#include "io/http_request.h"
#include "io/x509_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define OID_SERIAL_NUMBER "2.5.4.5"

/* A certificate and its key, as read at one time. */
struct http_tls_current {
    struct x509_chain chain;
    gnutls_x509_privkey_t key;
    struct arena arena;
    struct x509_facts facts;
};

struct http_tls {
    char *cert_path;
    char *key_path;
    char *nodes_pem;
    gnutls_x509_trust_list_t nodes;
    struct http_tls_current *current;
};

static enum err file_text(const char *path, bool secret, struct arena *arena, char **ret,
                          struct error *e)
{
    struct stat info;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return fail_errno(e, errno == EACCES ? ERR_DENIED : ERR_NOT_FOUND, errno, "'%s'", path);
    }
    char *text = arena_alloc(arena, X509_PEM_MAX + 1);
    ssize_t len = read(fd, text, X509_PEM_MAX);
    int number = errno;
    bool open_to_all = secret && fstat(fd, &info) == 0 && (info.st_mode & S_IRWXO) != 0;
    (void)close(fd);
    if (len < 0) {
        return fail_errno(e, ERR_IO, number, "'%s'", path);
    }
    if (open_to_all) {
        explicit_bzero(text, (size_t)len);
        return fail(e, ERR_DENIED, "everybody may read the key '%s'; say `chmod 600 %s`", path,
                    path);
    }
    text[len] = '\0';
    *ret = text;
    return ERR_OK;
}

static void current_free(struct http_tls_current *current)
{
    if (current != NULL) {
        x509_chain_done(&current->chain);
        gnutls_x509_privkey_deinit(current->key);
        arena_done(&current->arena);
        free(current);
    }
}

static enum err pair_check(const struct http_tls_current *current, struct error *e)
{
    unsigned char of_cert[64];
    unsigned char of_key[64];
    size_t cert_size = sizeof of_cert;
    size_t key_size = sizeof of_key;
    must(gnutls_x509_crt_get_key_id(current->chain.certs[0], 0, of_cert, &cert_size) == 0);
    must(gnutls_x509_privkey_get_key_id(current->key, 0, of_key, &key_size) == 0);
    if (cert_size != key_size || memcmp(of_cert, of_key, key_size) != 0) {
        return fail(e, ERR_INVALID, "the key is not the certificate's");
    }
    return ERR_OK;
}

static enum err current_read(const struct http_tls *tls, struct http_tls_current **ret,
                             struct error *e)
{
    struct http_tls_current *current = xcalloc(1, sizeof *current);
    char *cert = NULL;
    char *key = NULL;
    arena_init(&current->arena);
    enum err r = file_text(tls->cert_path, false, &current->arena, &cert, e);
    r = r == ERR_OK ? file_text(tls->key_path, true, &current->arena, &key, e) : r;
    if (r == ERR_OK && x509_chain_read(cert, &current->chain, e) != ERR_OK) {
        r = fail_in(e, "'%s'", tls->cert_path);
    }
    if (r == ERR_OK && x509_key_read(key, &current->key, e) != ERR_OK) {
        r = fail_in(e, "'%s'", tls->key_path);
    }
    r = r == ERR_OK ? x509_read(cert, &current->arena, &current->facts, e) : r;
    if (r == ERR_OK && pair_check(current, e) != ERR_OK) {
        r = fail_in(e, "'%s', '%s'", tls->cert_path, tls->key_path);
    }
    if (key != NULL) {
        explicit_bzero(key, strlen(key));
    }
    if (r != ERR_OK) {
        current_free(current);
        return r;
    }
    *ret = current;
    return ERR_OK;
}

static enum err nodes_read(struct http_tls *tls, const char *path, struct error *e)
{
    struct arena arena;
    struct x509_chain chain;
    char *pem = NULL;
    arena_init(&arena);
    enum err r = file_text(path, false, &arena, &pem, e);
    if (r == ERR_OK && x509_chain_read(pem, &chain, e) != ERR_OK) {
        r = fail_in(e, "'%s'", path);
    }
    if (r == ERR_OK) {
        tls->nodes_pem = xstrdup(pem);
        must(gnutls_x509_trust_list_init(&tls->nodes, 0) == 0);
        /* The list owns the certificates from here on. */
        must(gnutls_x509_trust_list_add_cas(tls->nodes, chain.certs, chain.count, 0) ==
             (int)chain.count);
    }
    arena_done(&arena);
    return r;
}

must_use enum err http_tls_new(const struct http_tls_files *files, struct http_tls **ret,
                               struct error *e)
{
    struct http_tls *tls = xcalloc(1, sizeof *tls);
    tls->cert_path = xstrdup(files->cert);
    tls->key_path = xstrdup(files->key);
    enum err r = current_read(tls, &tls->current, e);
    r = r == ERR_OK ? nodes_read(tls, files->nodes, e) : r;
    if (r != ERR_OK) {
        http_tls_free(tls);
        return r;
    }
    *ret = tls;
    return ERR_OK;
}

void http_tls_free(struct http_tls *tls)
{
    if (tls == NULL) {
        return;
    }
    current_free(tls->current);
    gnutls_x509_trust_list_deinit(tls->nodes, 1);
    free(tls->nodes_pem);
    free(tls->cert_path);
    free(tls->key_path);
    free(tls);
}

must_use enum err http_tls_reload(struct http_tls *tls, struct error *e)
{
    struct http_tls_current *next = NULL;
    enum err r = current_read(tls, &next, e);
    if (r == ERR_OK) {
        current_free(tls->current);
        tls->current = next;
    }
    return r;
}

const struct x509_facts *http_tls_facts(const struct http_tls *tls)
{
    return &tls->current->facts;
}

const char *http_tls_root(const struct http_tls *tls, struct arena *arena)
{
    const struct x509_chain *chain = &tls->current->chain;
    return tls->current->facts.root[0] != '\0' ? x509_pem_of(chain->certs[chain->count - 1], arena)
                                               : NULL;
}

bool http_tls_has_name(const struct http_tls *tls, const char *host)
{
    return gnutls_x509_crt_check_hostname(tls->current->chain.certs[0], host) != 0;
}

const char *http_tls_nodes_pem(const struct http_tls *tls)
{
    return tls->nodes_pem;
}

/* Gives copies, which GnuTLS frees: a handshake may outlive a reload. */
int http_tls_retrieve(gnutls_session_t session, const struct gnutls_cert_retr_st *info,
                      gnutls_pcert_st **ret_certs, unsigned *ret_count, gnutls_ocsp_data_st **ocsp,
                      unsigned *ocsp_count, gnutls_privkey_t *ret_key, unsigned *ret_flags)
{
    (void)info;
    struct MHD_Connection *connection = gnutls_session_get_ptr(session);
    const union MHD_ConnectionInfo *found =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    const struct http_conn *conn = found->socket_context;
    const struct http_tls_current *current = conn->server->options.tls->current;
    gnutls_pcert_st *certs = gnutls_calloc(current->chain.count, sizeof *certs);
    must(certs != NULL);
    for (unsigned i = 0; i < current->chain.count; i++) {
        must(gnutls_pcert_import_x509(&certs[i], current->chain.certs[i], 0) == 0);
    }
    must(gnutls_privkey_init(ret_key) == 0);
    must(gnutls_privkey_import_x509(*ret_key, current->key, GNUTLS_PRIVKEY_IMPORT_COPY) == 0);
    *ret_certs = certs;
    *ret_count = current->chain.count;
    *ocsp = NULL;
    *ocsp_count = 0;
    *ret_flags = GNUTLS_CERT_RETR_DEINIT_ALL;
    return 0;
}

/* ---- the client's certificate ---- */

static bool purpose_is_client(gnutls_x509_crt_t cert)
{
    char oid[64];
    size_t size = sizeof oid;
    return gnutls_x509_crt_get_key_purpose_oid(cert, 0, oid, &size, NULL) == 0 &&
           strcmp(oid, GNUTLS_KP_TLS_WWW_CLIENT) == 0;
}

static bool dn_part(gnutls_x509_crt_t cert, const char *oid, char *ret, size_t room)
{
    size_t size = room;
    return gnutls_x509_crt_get_dn_by_oid(cert, oid, 0, 0, ret, &size) == 0;
}

/* Checks signature, purpose and names. The dates are checked at each request. */
static void peer_read(struct http_conn *conn, gnutls_session_t session)
{
    unsigned count = 0;
    unsigned status = 0;
    struct http_node_cert *node = &conn->node;
    const gnutls_datum_t *list = gnutls_certificate_get_peers(session, &count);
    gnutls_x509_crt_t cert;
    if (list == NULL || count == 0) {
        return;
    }
    must(gnutls_x509_crt_init(&cert) == 0);
    if (gnutls_x509_crt_import(cert, &list[0], GNUTLS_X509_FMT_DER) == 0 &&
        gnutls_x509_trust_list_verify_crt(conn->server->options.tls->nodes, &cert, 1,
                                          GNUTLS_VERIFY_DISABLE_TIME_CHECKS, &status, NULL) == 0 &&
        status == 0 && purpose_is_client(cert) &&
        dn_part(cert, GNUTLS_OID_X520_COMMON_NAME, node->name, sizeof node->name) &&
        dn_part(cert, OID_SERIAL_NUMBER, node->credential, sizeof node->credential)) {
        node->from_ms = (int64_t)gnutls_x509_crt_get_activation_time(cert) * 1000;
        node->until_ms = (int64_t)gnutls_x509_crt_get_expiration_time(cert) * 1000;
        node->valid = true;
    }
    gnutls_x509_crt_deinit(cert);
}

const struct http_node_cert *http_tls_node_cert(struct http_request *request)
{
    struct http_conn *conn = request->conn;
    if (conn->server->options.tls != NULL && !conn->peer_read) {
        const union MHD_ConnectionInfo *info =
            MHD_get_connection_info(request->connection, MHD_CONNECTION_INFO_GNUTLS_SESSION);
        conn->peer_read = true;
        peer_read(conn, info->tls_session);
    }
    struct timespec now;
    must(clock_gettime(CLOCK_REALTIME, &now) == 0);
    const int64_t now_ms = (int64_t)now.tv_sec * 1000;
    conn->node.off_ms = now_ms < conn->node.from_ms    ? conn->node.from_ms - now_ms
                        : now_ms > conn->node.until_ms ? now_ms - conn->node.until_ms
                                                       : 0;
    return conn->node.valid ? &conn->node : NULL;
}

bool http_tls_used(const struct http_request *request)
{
    return request->server->options.tls != NULL;
}
