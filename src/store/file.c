/* file.c - the store's system calls. EINTR and short counts are handled here once.
 * SPDX-License-Identifier: Apache-2.0 */
#include "store/file.h"

#include "base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

enum { COPY_BYTES = 1024 * 1024 };

enum err file_write_at(struct file file, const void *data, size_t len, uint64_t at, struct error *e)
{
    const char *p = data;
    while (len > 0) {
        ssize_t n = pwrite(file.fd, p, len, (off_t)at);
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n <= 0) {
            return fail_errno(e, ERR_IO, n == 0 ? EIO : errno, "cannot write to '%s'", file.path);
        }
        p += n;
        len -= (size_t)n;
        at += (uint64_t)n;
    }
    return ERR_OK;
}

enum err file_read_at(struct file file, void *data, size_t len, uint64_t at, size_t *ret_len,
                      struct error *e)
{
    size_t got = 0;
    while (got < len) {
        ssize_t n = pread(file.fd, (char *)data + got, len - got, (off_t)(at + got));
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n < 0) {
            return fail_errno(e, ERR_IO, errno, "cannot read '%s'", file.path);
        }
        if (n == 0) {
            break;
        }
        got += (size_t)n;
    }
    *ret_len = got;
    return ERR_OK;
}

enum err file_sync(struct file file, struct error *e)
{
    if (fdatasync(file.fd) != 0) {
        return fail_errno(e, ERR_IO, errno, "cannot flush '%s'", file.path);
    }
    return ERR_OK;
}

enum err file_sync_dir(const char *path, struct error *e)
{
    auto_free(file_closep) int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) {
        return fail_errno(e, ERR_IO, errno, "cannot open directory '%s'", path);
    }
    if (fsync(fd) != 0) {
        return fail_errno(e, ERR_IO, errno, "cannot flush directory '%s'", path);
    }
    return ERR_OK;
}

enum err file_sync_parent(const char *path, struct error *e)
{
    auto_free(freep) char *parent = xstrdup(path);
    size_t len = strlen(parent);
    while (len > 1 && parent[len - 1] == '/') {
        parent[--len] = '\0';
    }
    char *slash = strrchr(parent, '/');
    if (slash == NULL) {
        return file_sync_dir(".", e);
    }
    slash[slash == parent ? 1 : 0] = '\0';
    return file_sync_dir(parent, e);
}

static enum err bytes_copy(struct file in, struct file out, uint64_t bytes, struct error *e)
{
    auto_free(freep) char *block = xmalloc(COPY_BYTES);
    for (uint64_t at = 0; at < bytes;) {
        size_t want = bytes - at < COPY_BYTES ? (size_t)(bytes - at) : COPY_BYTES;
        size_t got;
        enum err r = file_read_at(in, block, want, at, &got, e);
        if (r != ERR_OK) {
            return r;
        }
        if (got < want) {
            return fail(e, ERR_CORRUPT, "'%s' has %" PRIu64 " bytes where %" PRIu64 " are needed",
                        in.path, at + got, bytes);
        }
        r = file_write_at(out, block, want, at, e);
        if (r != ERR_OK) {
            return r;
        }
        at += want;
    }
    return file_sync(out, e);
}

enum err file_copy(const char *from, const char *to, uint64_t bytes, struct error *e)
{
    auto_free(file_closep) int in = open(from, O_RDONLY | O_CLOEXEC);
    if (in < 0) {
        return fail_errno(e, errno == ENOENT ? ERR_NOT_FOUND : ERR_IO, errno, "cannot open '%s'",
                          from);
    }
    auto_free(file_closep) int out = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (out < 0) {
        return fail_errno(e, ERR_IO, errno, "cannot create '%s'", to);
    }
    return bytes_copy((struct file){in, from}, (struct file){out, to}, bytes, e);
}

void file_closep(const int *fd)
{
    if (*fd >= 0) {
        (void)close(*fd);
    }
}
