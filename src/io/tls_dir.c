/* tls_dir.c - see tls_dir.h. SPDX-License-Identifier: Apache-2.0 */
#include "io/tls_dir.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#define LIFE_MS_MIN ((int64_t)24 * 60 * 60 * 1000)

enum { MODE_DIR = 0711, MODE_PUBLIC = 0644, MODE_SECRET = 0600 };

const char *tls_dir_path(struct arena *arena, const char *dir, const char *file)
{
    return arena_fmt(arena, "%s/tls/%s", dir, file);
}

bool tls_dir_has(struct arena *arena, const char *dir, const char *file)
{
    return access(tls_dir_path(arena, dir, file), F_OK) == 0;
}

must_use enum err tls_dir_read(const char *dir, const char *file, struct arena *arena, char **ret,
                               struct error *e)
{
    const char *path = tls_dir_path(arena, dir, file);
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0) {
        return fail_errno(e, errno == ENOENT ? ERR_NOT_FOUND : ERR_IO, errno, "'%s'", path);
    }
    char *text = arena_alloc(arena, X509_PEM_MAX + 1);
    ssize_t len = read(fd, text, X509_PEM_MAX);
    int number = errno;
    (void)close(fd);
    if (len < 0) {
        return fail_errno(e, ERR_IO, number, "'%s'", path);
    }
    text[len] = '\0';
    *ret = text;
    return ERR_OK;
}

must_use enum err tls_dir_write(const char *dir, const char *file, const char *text, unsigned mode,
                                struct arena *arena, struct error *e)
{
    const char *path = tls_dir_path(arena, dir, file);
    const char *beside = arena_fmt(arena, "%s.new", path);
    if (mkdir(arena_fmt(arena, "%s/tls", dir), MODE_DIR) != 0 && errno != EEXIST) {
        return fail_errno(e, ERR_IO, errno, "'%s/tls'", dir);
    }
    (void)unlink(beside);
    int fd = open(beside, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, (mode_t)mode);
    if (fd < 0) {
        return fail_errno(e, ERR_IO, errno, "'%s'", beside);
    }
    size_t size = strlen(text);
    bool good =
        fchmod(fd, (mode_t)mode) == 0 && write(fd, text, size) == (ssize_t)size && fsync(fd) == 0;
    int number = errno;
    good = close(fd) == 0 && good;
    if (!good || rename(beside, path) != 0) {
        return fail_errno(e, ERR_IO, good ? errno : number, "'%s'", path);
    }
    return ERR_OK;
}

/* Writes the key first: a certificate without its key would be taken for a whole pair. */
static must_use enum err pair_write(const char *dir, const char *cert, const char *key,
                                    const struct x509_pair *pair, struct arena *arena,
                                    struct error *e)
{
    enum err r = tls_dir_write(dir, key, pair->key, MODE_SECRET, arena, e);
    return r == ERR_OK ? tls_dir_write(dir, cert, pair->cert, MODE_PUBLIC, arena, e) : r;
}

must_use enum err tls_dir_authority(const char *dir, int64_t now_ms, struct arena *arena,
                                    struct x509_pair *ret, struct error *e)
{
    enum err r = ERR_OK;
    if (!tls_dir_has(arena, dir, TLS_DIR_CA)) {
        r = x509_make_authority(now_ms, arena, ret, e);
        return r == ERR_OK ? pair_write(dir, TLS_DIR_CA, TLS_DIR_CA_KEY, ret, arena, e) : r;
    }
    r = tls_dir_read(dir, TLS_DIR_CA, arena, &ret->cert, e);
    return r == ERR_OK ? tls_dir_read(dir, TLS_DIR_CA_KEY, arena, &ret->key, e) : r;
}

static void wipe(char *secret)
{
    if (secret != NULL) {
        explicit_bzero(secret, strlen(secret));
    }
}

struct tls_names {
    const char *at[X509_NAMES_MAX];
    size_t count;
};

static must_use enum err name_put(struct tls_names *names, const char *name, struct error *e)
{
    for (size_t i = 0; i < names->count; i++) {
        if (strcasecmp(names->at[i], name) == 0) {
            return ERR_OK;
        }
    }
    if (names->count == X509_NAMES_MAX) {
        return fail(e, ERR_LIMIT, "a certificate has at most %d names", X509_NAMES_MAX);
    }
    names->at[names->count++] = name;
    return ERR_OK;
}

static must_use enum err names_gather(const char *dir, const struct tls_dir_init *init,
                                      struct arena *arena, struct tls_names *ret, struct error *e)
{
    static const char *const here[] = {"localhost", "127.0.0.1", "::1"};
    struct x509_facts old = {.name_count = 0};
    char *pem = NULL;
    enum err r = ERR_OK;
    if (tls_dir_has(arena, dir, TLS_DIR_CERT)) {
        r = tls_dir_read(dir, TLS_DIR_CERT, arena, &pem, e);
        r = r == ERR_OK ? x509_read(pem, arena, &old, e) : r;
    }
    for (size_t i = 0; r == ERR_OK && i < init->name_count; i++) {
        r = name_put(ret, init->names[i], e);
    }
    for (size_t i = 0; r == ERR_OK && i < old.name_count; i++) {
        r = name_put(ret, old.names[i], e);
    }
    for (size_t i = 0; r == ERR_OK && i < sizeof here / sizeof here[0]; i++) {
        r = name_put(ret, here[i], e);
    }
    return r;
}

must_use enum err tls_dir_init(const char *dir, const struct tls_dir_init *init,
                               struct arena *arena, struct error *e)
{
    struct x509_pair authority = {0};
    struct x509_pair server = {0};
    struct tls_names names = {.count = 0};
    if (!init->renew && tls_dir_has(arena, dir, TLS_DIR_CERT)) {
        return fail(e, ERR_CONFLICT,
                    "'%s/tls' has a certificate already; --renew makes another one with the same "
                    "authority",
                    dir);
    }
    enum err r = names_gather(dir, init, arena, &names, e);
    /* The names are tried with an authority that is thrown away: after a refusal nothing has changed. */
    r = r == ERR_OK ? x509_make_authority(init->now_ms, arena, &authority, e) : r;
    const struct x509_server wanted = {.names = names.at,
                                       .name_count = names.count,
                                       .now_ms = init->now_ms,
                                       .life_ms = init->life_ms};
    r = r == ERR_OK ? x509_make_server(&authority, &wanted, arena, &server, e) : r;
    r = r == ERR_OK ? tls_dir_authority(dir, init->now_ms, arena, &authority, e) : r;
    r = r == ERR_OK ? x509_make_server(&authority, &wanted, arena, &server, e) : r;
    r = r == ERR_OK ? pair_write(dir, TLS_DIR_CERT, TLS_DIR_KEY, &server, arena, e) : r;
    wipe(authority.key);
    wipe(server.key);
    return r;
}

must_use enum err tls_dir_renew(const char *dir, int64_t now_ms, struct arena *arena,
                                struct error *e)
{
    struct x509_pair authority = {0};
    struct x509_pair server = {0};
    struct x509_facts old = {.name_count = 0};
    char *pem = NULL;
    char *key = NULL;
    enum err r = tls_dir_read(dir, TLS_DIR_CERT, arena, &pem, e);
    r = r == ERR_OK ? x509_read(pem, arena, &old, e) : r;
    r = r == ERR_OK ? tls_dir_read(dir, TLS_DIR_KEY, arena, &key, e) : r;
    r = r == ERR_OK ? tls_dir_read(dir, TLS_DIR_CA, arena, &authority.cert, e) : r;
    r = r == ERR_OK ? tls_dir_read(dir, TLS_DIR_CA_KEY, arena, &authority.key, e) : r;
    const int64_t life_ms = x509_life_ms(&old);
    const struct x509_server wanted = {.names = old.names,
                                       .name_count = old.name_count,
                                       .now_ms = now_ms,
                                       .life_ms = life_ms > LIFE_MS_MIN ? life_ms : LIFE_MS_MIN,
                                       .key = key};
    r = r == ERR_OK ? x509_make_server(&authority, &wanted, arena, &server, e) : r;
    r = r == ERR_OK ? tls_dir_write(dir, TLS_DIR_CERT, server.cert, MODE_PUBLIC, arena, e) : r;
    wipe(key);
    wipe(authority.key);
    wipe(server.key);
    return r;
}
