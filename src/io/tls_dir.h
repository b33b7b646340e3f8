/* tls_dir.h - the directory tls/ of a server's data directory:
 *
 *   ca.pem ca.key           the authority that Weir made; it signs the nodes' certificates
 *   server.pem server.key   the server's certificate, when `weir tls init` made it
 *   server-ca.pem           what clients on this machine trust; written by the server at its start
 *
 * Keys have mode 0600. SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "io/x509_make.h"

#define TLS_DIR_CA "ca.pem"
#define TLS_DIR_CA_KEY "ca.key"
#define TLS_DIR_CERT "server.pem"
#define TLS_DIR_KEY "server.key"
#define TLS_DIR_TRUST "server-ca.pem"

const char *tls_dir_path(struct arena *arena, const char *dir, const char *file);
bool tls_dir_has(struct arena *arena, const char *dir, const char *file);

/* Reads the authority, which is made first where there is none. Wipe ret->key after use. */
must_use enum err tls_dir_authority(const char *dir, int64_t now_ms, struct arena *arena,
                                    struct x509_pair *ret, struct error *e);

/* Makes the server's certificate for `names` and the names of this machine's loopback. With `renew` the
 * names of the old certificate are kept; without it an existing certificate is ERR_CONFLICT. */
struct tls_dir_init {
    const char *const *names;
    size_t name_count;
    bool renew;
    int64_t now_ms;
    int64_t life_ms;
};
must_use enum err tls_dir_init(const char *dir, const struct tls_dir_init *init,
                               struct arena *arena, struct error *e);

/* Makes the server's certificate anew, with the key, the names and the life of the old one; the life is a day at least. One
 * file changes: after a crash the old certificate is there, or the new one. */
must_use enum err tls_dir_renew(const char *dir, int64_t now_ms, struct arena *arena,
                                struct error *e);

/* The text of a small file of the directory. */
must_use enum err tls_dir_read(const char *dir, const char *file, struct arena *arena, char **ret,
                               struct error *e);
must_use enum err tls_dir_write(const char *dir, const char *file, const char *text, unsigned mode,
                                struct arena *arena, struct error *e);
