/* server_tls.c - see server_tls.h. SPDX-License-Identifier: Apache-2.0 */
#include "server/server_tls.h"

#include "base/log.h"
#include "base/mem.h"
#include "base/time_text.h"
#include "io/tls_dir.h"

#include <string.h>
#include <time.h>
#include <unistd.h>

enum { LOW_DAYS = 30, MODE_PUBLIC = 0644 };

#define DAY_MS ((int64_t)24 * 60 * 60 * 1000)

struct server_tls {
    struct arena arena;
    const char *dir;
    const char *cert; /* path */
    bool own;         /* `weir tls init` made the certificate */
    struct http_tls *http;
    struct x509_pair authority;
    int64_t node_life_ms;
    int64_t told_ms; /* when the log was told that the certificate ends soon */
};

static int64_t wall_ms(void)
{
    struct timespec now;
    must(clock_gettime(CLOCK_REALTIME, &now) == 0);
    return (int64_t)now.tv_sec * 1000;
}

static must_use enum err renew(struct server_tls *tls, struct error *e)
{
    struct arena arena;
    if (!tls->own) {
        return fail(e, ERR_DENIED, "the certificate was not made by `weir tls init`");
    }
    arena_init(&arena);
    enum err r = tls_dir_renew(tls->dir, wall_ms(), &arena, e);
    arena_done(&arena);
    return r == ERR_OK ? http_tls_reload(tls->http, e) : r;
}

void server_tls_look(struct server_tls *tls)
{
    char until[TIME_TEXT_MAX];
    struct error e;
    const struct x509_facts *facts = http_tls_facts(tls->http);
    const int64_t now_ms = wall_ms();
    const int64_t third_ms = x509_life_ms(facts) / 3;
    const int64_t low_ms = third_ms < LOW_DAYS * DAY_MS ? third_ms : LOW_DAYS * DAY_MS;
    if (facts->until_ms >= now_ms + low_ms || now_ms < tls->told_ms + DAY_MS) {
        return;
    }
    if (renew(tls, &e) == ERR_OK) {
        time_text(http_tls_facts(tls->http)->until_ms, until);
        log_info("the certificate is renewed", kv_str("file", tls->cert), kv_str("until", until));
        return;
    }
    tls->told_ms = now_ms;
    time_text(facts->until_ms, until);
    log_warn("the certificate ends soon and must be renewed by hand", kv_str("file", tls->cert),
             kv_str("until", until), kv_error(&e));
}

/* Writes the authority that clients on this machine trust. Without one in the chain, they use the
 * system's. */
static void trust_write(const struct server_tls *tls)
{
    struct arena arena;
    struct error e;
    char *pem = NULL;
    arena_init(&arena);
    const char *root = http_tls_root(tls->http, &arena);
    if (root == NULL) {
        (void)unlink(tls_dir_path(&arena, tls->dir, TLS_DIR_TRUST));
    } else if (tls_dir_read(tls->dir, TLS_DIR_TRUST, &arena, &pem, NULL) != ERR_OK ||
               strcmp(pem, root) != 0) {
        if (tls_dir_write(tls->dir, TLS_DIR_TRUST, root, MODE_PUBLIC, &arena, &e) != ERR_OK) {
            log_warn("commands on this machine may not trust the server", kv_error(&e));
        }
    }
    arena_done(&arena);
}

must_use enum err server_tls_open(const struct server_options *options, int64_t now_ms,
                                  struct server_tls **ret, struct error *e)
{
    struct server_tls *tls = xcalloc(1, sizeof *tls);
    arena_init(&tls->arena);
    const bool own = options->tls_cert == NULL;
    tls->own = own;
    *ret = NULL;
    if (own && !tls_dir_has(&tls->arena, options->dir, TLS_DIR_CERT)) {
        server_tls_close(tls);
        return ERR_OK;
    }
    tls->dir = arena_str(&tls->arena, options->dir);
    tls->cert = own ? tls_dir_path(&tls->arena, tls->dir, TLS_DIR_CERT) : options->tls_cert;
    tls->node_life_ms = options->file.tls_node_life_ms;
    enum err r = tls_dir_authority(tls->dir, now_ms, &tls->arena, &tls->authority, e);
    const struct http_tls_files files = {
        .cert = tls->cert,
        .key = own ? tls_dir_path(&tls->arena, tls->dir, TLS_DIR_KEY) : options->tls_key,
        .nodes = tls_dir_path(&tls->arena, tls->dir, TLS_DIR_CA),
    };
    r = r == ERR_OK ? http_tls_new(&files, &tls->http, e) : r;
    if (r != ERR_OK) {
        server_tls_close(tls);
        return fail_in(e, "TLS");
    }
    trust_write(tls);
    server_tls_look(tls);
    *ret = tls;
    return ERR_OK;
}

void server_tls_close(struct server_tls *tls)
{
    if (tls == NULL) {
        return;
    }
    if (tls->authority.key != NULL) {
        explicit_bzero(tls->authority.key, strlen(tls->authority.key));
    }
    http_tls_free(tls->http);
    arena_done(&tls->arena);
    free(tls);
}

void server_tls_reload(struct server_tls *tls)
{
    struct error e;
    if (http_tls_reload(tls->http, &e) != ERR_OK) {
        log_error_always("the certificate stays as it is", kv_error(&e));
        return;
    }
    log_info("certificate read again", kv_str("file", tls->cert),
             kv_str("fingerprint", http_tls_facts(tls->http)->fingerprint));
    trust_write(tls);
    tls->told_ms = 0;
    server_tls_look(tls);
}

struct http_tls *server_tls_http(const struct server_tls *tls)
{
    return tls != NULL ? tls->http : NULL;
}

must_use enum err server_tls_sign(const struct server_tls *tls, const char *request,
                                  const struct x509_node *node, struct arena *arena,
                                  const char **ret_pem, int64_t *ret_renew_ms, struct error *e)
{
    struct x509_node signed_node = *node;
    signed_node.now_ms = wall_ms(); /* the clock that certificates are checked with */
    signed_node.life_ms = tls->node_life_ms;
    enum err r = x509_make_node(&tls->authority, request, &signed_node, arena, ret_pem, e);
    if (r == ERR_OK) {
        *ret_renew_ms = tls->node_life_ms / 2;
    }
    return r;
}

const char *server_tls_url(const struct server_tls *tls, const char *address, unsigned port,
                           struct arena *arena)
{
    const char *host = strcmp(address, "0.0.0.0") == 0 ? "127.0.0.1"
                       : strcmp(address, "::") == 0    ? "::1"
                                                       : address;
    if (tls != NULL && !http_tls_has_name(tls->http, host) &&
        http_tls_facts(tls->http)->name_count > 0) {
        host = http_tls_facts(tls->http)->names[0];
    }
    const bool v6 = strchr(host, ':') != NULL;
    return arena_fmt(arena, "%s://%s%s%s:%u", tls != NULL ? "https" : "http", v6 ? "[" : "", host,
                     v6 ? "]" : "", port);
}
