/* secrets.c - see secrets.h. The file is written before the commit: when the server dies in between,
 * the next start finds a token it does not know, and makes another.
 * SPDX-License-Identifier: Apache-2.0 */
#include "server/secrets.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sodium.h>
#include <unistd.h>

enum err secrets_write_file(const char *dir, const char *name, const char *text, unsigned mode,
                            struct error *e)
{
    char path[PATH_MAX];
    char beside[PATH_MAX];
    int len = snprintf(path, sizeof path, "%s/%s", dir, name);
    int beside_len = snprintf(beside, sizeof beside, "%s/.%s.new", dir, name);
    if (len >= (int)sizeof path || beside_len >= (int)sizeof beside) {
        return fail(e, ERR_LIMIT, "the name of the data directory is too long");
    }
    (void)unlink(beside);
    int fd = open(beside, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode);
    if (fd < 0) {
        return fail_errno(e, ERR_IO, errno, "'%s'", beside);
    }
    size_t size = strlen(text);
    bool good = write(fd, text, size) == (ssize_t)size && fsync(fd) == 0;
    int why = errno;
    good = close(fd) == 0 && good;
    if (!good || rename(beside, path) != 0) {
        return fail_errno(e, ERR_IO, good ? errno : why, "'%s'", path);
    }
    return ERR_OK;
}

/* The token in the file, without its line end; "" when there is none. */
static void file_token(const char *dir, const char *file, char *out)
{
    char path[PATH_MAX];
    out[0] = '\0';
    if (snprintf(path, sizeof path, "%s/%s", dir, file) >= (int)sizeof path) {
        return;
    }
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0) {
        return;
    }
    ssize_t n = read(fd, out, TOKEN_SECRET_MAX - 1);
    out[n > 0 ? n : 0] = '\0';
    out[strcspn(out, "\n")] = '\0';
    (void)close(fd);
}

enum err secrets_ensure(const char *dir, enum token_scope scope, const char *name,
                        const struct tokens *tokens, int64_t now_ms, struct store_token *ret,
                        bool *ret_new, struct error *e)
{
    char file[32];
    char secret[TOKEN_SECRET_MAX];
    char line[TOKEN_SECRET_MAX + 1];
    (void)snprintf(file, sizeof file, "%s.token", token_scope_name(scope));
    file_token(dir, file, secret);
    const struct store_token *known =
        secret[0] != '\0' ? token_set_find(tokens, secret, now_ms) : NULL;
    *ret_new = known == NULL || strcmp(known->scope, token_scope_name(scope)) != 0;
    enum err r = ERR_OK;
    if (*ret_new) {
        token_make(scope, name, now_ms, ret, secret);
        (void)snprintf(line, sizeof line, "%s\n", secret);
        r = secrets_write_file(dir, file, line, 0600, e);
    }
    sodium_memzero(secret, sizeof secret);
    sodium_memzero(line, sizeof line);
    return r;
}
