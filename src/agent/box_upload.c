/* box_upload.c - see box_upload.h.
 *
 * The archive is kept in D/uploads, for the further instances of the task, and checked by its digest. It is
 * unpacked by a process that has become the task's user: whatever an earlier attempt left in the directory,
 * a link among it, can lead no further than that user may go anyway. SPDX-License-Identifier: Apache-2.0 */
#include "agent/box_upload.h"

#include "agent/agent_options.h"
#include "agent/enrol.h"
#include "agent/node_cert.h"
#include "agent/report_client.h"
#include "agent/dirs.h"
#include "base/mem.h"
#include "base/tar.h"
#include "base/vec.h"
#include "wire/upload.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    FETCH_RETRY_MS = 5 * 60 * 1000, /* a server that restarts is back by then */
    FETCH_TIMEOUT_MS = 60 * 1000,
    KEPT_MAX = 64, /* archives kept on a node, besides those that are in use */
    STATUS_OK = 200,
};
#define KEPT_BYTES_MAX ((uint64_t)8 << 30) /* of all archives kept on a node */

/* ---- fetching ---- */

static must_use enum err digest_of(int fd, char hex[UPLOAD_DIGEST_LEN + 1], struct error *e)
{
    unsigned char hash[crypto_hash_sha256_BYTES];
    crypto_hash_sha256_state state;
    auto_free(freep) char *bytes = xmalloc(UPLOAD_PIECE_MAX);
    ssize_t n;
    (void)crypto_hash_sha256_init(&state);
    for (off_t at = 0; (n = pread(fd, bytes, UPLOAD_PIECE_MAX, at)) > 0; at += n) {
        (void)crypto_hash_sha256_update(&state, (unsigned char *)bytes, (size_t)n);
    }
    (void)crypto_hash_sha256_final(&state, hash);
    (void)sodium_bin2hex(hex, UPLOAD_DIGEST_LEN + 1, hash, sizeof hash);
    return n < 0 ? fail_errno(e, ERR_IO, errno, "cannot read the upload") : ERR_OK;
}

static must_use enum err piece_fetch(const struct box *box, struct http_client *client,
                                     uint64_t task, int fd, uint64_t *offset, bool *ret_end,
                                     struct error *e)
{
    struct arena arena;
    struct http_reply reply;
    arena_init(&arena);
    const struct http_call call = {
        .method = "GET",
        .path = arena_fmt(&arena, "/api/v1/agent/upload?digest=%s&task=%" PRIu64 "&offset=%" PRIu64,
                          box->order.upload, task, *offset),
        .timeout_ms = FETCH_TIMEOUT_MS,
        .retry_ms = FETCH_RETRY_MS};
    enum err r = http_client_call(client, &call, &arena, &reply, e);
    if (r == ERR_OK && reply.status != STATUS_OK) {
        r = fail(e, ERR_IO, "the server answers %u: %.160s", reply.status, reply.body.p);
    }
    for (size_t put = 0; r == ERR_OK && put < reply.body.len;) {
        const ssize_t n = write(fd, reply.body.p + put, reply.body.len - put);
        put += n > 0 ? (size_t)n : 0;
        r = n > 0 ? ERR_OK : fail_errno(e, ERR_IO, errno, "cannot write the upload");
    }
    if (r == ERR_OK) {
        *offset += reply.body.len;
        *ret_end = reply.body.len < UPLOAD_PIECE_MAX;
        if (*offset > UPLOAD_BYTES_MAX) {
            r = fail(e, ERR_LIMIT, "the upload is larger than allowed");
        }
    }
    arena_done(&arena);
    return r;
}

static must_use enum err fetch(struct box *box, uint64_t task, int fd, struct error *e)
{
    const struct agent_options options = {.dir = box->dir,
                                          .ca = box->site.ca[0] == '\0' ? NULL : box->site.ca};
    struct str credential;
    struct http_trust trust;
    uint64_t offset = 0;
    bool end = false;
    enum err r = dirs_read(box->dir, "credential", &box->arena, &credential, e);
    if (r != ERR_OK) {
        return r;
    }
    struct http_client *client = http_client_new(box->site.url, credential.p);
    node_cert_trust(&options, &box->arena, &trust);
    http_client_trust(client, &trust);
    while (r == ERR_OK && !end) {
        r = piece_fetch(box, client, task, fd, &offset, &end, e);
    }
    http_client_free(client);
    return r;
}

struct kept_upload {
    const char *name;
    struct timespec used;
    uint64_t bytes;
};

static int latest_first(const void *a, const void *b)
{
    const struct timespec *x = &((const struct kept_upload *)a)->used;
    const struct timespec *y = &((const struct kept_upload *)b)->used;
    const bool earlier =
        x->tv_sec < y->tv_sec || (x->tv_sec == y->tv_sec && x->tv_nsec < y->tv_nsec);
    const bool later = x->tv_sec > y->tv_sec || (x->tv_sec == y->tv_sec && x->tv_nsec > y->tv_nsec);
    return earlier ? 1 : later ? -1 : 0;
}

/* Removes archives, the longest unused first. One that is being unpacked stays whole: its file is open. */
static void kept_trim(const char *dir, struct arena *arena)
{
    VEC(struct kept_upload) kept = {0};
    DIR *entries = opendir(dir);
    const struct dirent *entry;
    while (entries != NULL && (entry = readdir(entries)) != NULL) {
        struct stat info;
        if (entry->d_name[0] != '.' && strstr(entry->d_name, ".tar") != NULL &&
            fstatat(dirfd(entries), entry->d_name, &info, AT_SYMLINK_NOFOLLOW) == 0) {
            vec_push(&kept, ((struct kept_upload){.name = arena_str(arena, entry->d_name),
                                                  .used = info.st_mtim,
                                                  .bytes = (uint64_t)info.st_size}));
        }
    }
    if (kept.count > 0) {
        qsort(kept.at, kept.count, sizeof *kept.at, latest_first);
    }
    uint64_t bytes = 0;
    for (size_t i = 0; i < kept.count; i++) {
        bytes += kept.at[i].bytes;
        if (i >= KEPT_MAX || bytes > KEPT_BYTES_MAX) {
            (void)unlinkat(dirfd(entries), kept.at[i].name, 0);
        }
    }
    if (entries != NULL) {
        (void)closedir(entries);
    }
    vec_done(&kept);
}

/* The archive, opened for reading, from D/uploads or from the server. One process fetches at a time. */
static must_use enum err archive_open(struct box *box, uint64_t task, int *ret_fd, struct error *e)
{
    char hex[UPLOAD_DIGEST_LEN + 1];
    const char *dir = arena_fmt(&box->arena, "%s/uploads", box->dir);
    const char *path = arena_fmt(&box->arena, "%s/%s.tar", dir, box->order.upload);
    const char *part = arena_fmt(&box->arena, "%s/%s.part", dir, box->order.upload);
    (void)mkdir(dir, 0700);
    const int lock =
        open(arena_fmt(&box->arena, "%s/lock", dir), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (lock < 0 || flock(lock, LOCK_EX) != 0) {
        return fail_errno(e, ERR_IO, errno, "cannot lock '%s'", dir);
    }
    enum err r = ERR_OK;
    int fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0) {
        fd = open(part, O_RDWR | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
        r = fd < 0 ? fail_errno(e, ERR_IO, errno, "cannot write '%s'", part)
                   : fetch(box, task, fd, e);
        r = r == ERR_OK ? digest_of(fd, hex, e) : r;
        if (r == ERR_OK && strcmp(hex, box->order.upload) != 0) {
            r = fail(e, ERR_CORRUPT, "the upload is damaged");
        }
        if (r == ERR_OK && rename(part, path) != 0) {
            r = fail_errno(e, ERR_IO, errno, "cannot write '%s'", path);
        }
    }
    if (r == ERR_OK) {
        (void)futimens(fd, NULL); /* used now */
        kept_trim(dir, &box->arena);
    }
    (void)close(lock);
    *ret_fd = fd;
    return r;
}

/* ---- unpacking, as the task's user ---- */

struct unpack {
    int dir;
    int fd; /* the file that is being written; -1: the entry is left out */
};

static must_use enum err unpack_entry(void *ctx, const struct tar_entry *entry, struct error *e)
{
    struct unpack *unpack = ctx;
    unpack->fd = -1;
    if (entry->directory) {
        return mkdirat(unpack->dir, entry->name, 0777) == 0 || errno == EEXIST
                   ? ERR_OK
                   : fail_errno(e, ERR_IO, errno, "cannot make '%s'", entry->name);
    }
    unpack->fd =
        openat(unpack->dir, entry->name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
               entry->executable ? 0777 : 0666);
    return unpack->fd >= 0 || errno == EEXIST
               ? ERR_OK
               : fail_errno(e, ERR_IO, errno, "cannot write '%s'", entry->name);
}

static must_use enum err unpack_data(void *ctx, struct str piece, struct error *e)
{
    const struct unpack *unpack = ctx;
    for (size_t put = 0; unpack->fd >= 0 && put < piece.len;) {
        const ssize_t n = write(unpack->fd, piece.p + put, piece.len - put);
        if (n <= 0) {
            return fail_errno(e, ERR_IO, errno, "cannot write the files of the upload");
        }
        put += (size_t)n;
    }
    return ERR_OK;
}

static must_use enum err unpack_end(void *ctx, struct error *e)
{
    struct unpack *unpack = ctx;
    const int fd = unpack->fd;
    unpack->fd = -1;
    return fd < 0 || close(fd) == 0
               ? ERR_OK
               : fail_errno(e, ERR_IO, errno, "cannot write the files of the upload");
}

static must_use enum err unpack_all(int archive, int dir, struct error *e)
{
    struct unpack unpack = {.dir = dir, .fd = -1};
    struct tar_reader tar;
    const struct tar_sink sink = {unpack_entry, unpack_data, unpack_end, &unpack};
    auto_free(freep) char *bytes = xmalloc(UPLOAD_PIECE_MAX);
    enum err r = ERR_OK;
    ssize_t n = 1;
    tar_reader_init(&tar, &sink);
    for (off_t at = 0; r == ERR_OK && n > 0; at += n) {
        n = pread(archive, bytes, UPLOAD_PIECE_MAX, at);
        if (n > 0) {
            r = tar_reader_feed(&tar, (struct str){bytes, (size_t)n}, e);
        }
    }
    if (r == ERR_OK && n < 0) {
        r = fail_errno(e, ERR_IO, errno, "cannot read the upload");
    }
    return r == ERR_OK ? tar_reader_end(&tar, e) : r;
}

/* In a process of its own, which becomes the task's user. */
static _Noreturn void unpack_child(const struct box *box, int archive)
{
    struct error e;
    const int dir = open(box->start.job_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    enum err r = dir < 0 ? fail_errno(&e, ERR_IO, errno, "cannot open the job directory")
                         : box_become_user(&box->start, &e);
    r = r == ERR_OK ? unpack_all(archive, dir, &e) : r;
    if (r != ERR_OK) {
        (void)fprintf(stderr, "weir: the upload cannot be unpacked: %s\n", e.text);
    }
    (void)fflush(stderr);
    _exit(r == ERR_OK ? 0 : 1);
}

must_use enum err box_upload_take(const struct box *borrowed, uint64_t task, struct error *e)
{
    struct box *box = (struct box *)(uintptr_t)borrowed;
    int archive = -1;
    int status = 0;
    enum err r = upload_digest_check(box->order.upload)
                     ? archive_open(box, task, &archive, e)
                     : fail(e, ERR_INVALID, "the upload has no valid digest");
    if (r != ERR_OK) {
        return r;
    }
    const pid_t child = fork();
    if (child == 0) {
        unpack_child(box, archive);
    }
    (void)close(archive);
    if (child < 0 || waitpid(child, &status, 0) != child) {
        return fail_errno(e, ERR_IO, errno, "cannot unpack the upload");
    }
    return WIFEXITED(status) && WEXITSTATUS(status) == 0
               ? ERR_OK
               : fail(e, ERR_IO, "the upload was not unpacked");
}
