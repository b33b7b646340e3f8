/* taskfiles.c - see taskfiles.h. SPDX-License-Identifier: Apache-2.0 */
#include "agent/taskfiles.h"

#include "agent/limits.h"
#include "base/base64.h"
#include "base/mem.h"
#include "base/vec.h"
#include "wire/files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/openat2.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { NAMES_LOOKED_MAX = 1000000, FD_PATH_MAX = 64, VERSION_MAX = 96 };

static void error_put(struct buf *out, const char *word, const char *message)
{
    struct json_out j;
    json_out_init(&j, out);
    json_out_object(&j);
    json_out_kv_text(&j, "error", word);
    json_out_kv_text(&j, "message", message);
    json_out_end(&j);
}

static void errno_put(struct buf *out, int number, const char *path)
{
    struct error e;
    const bool absent = number == ENOENT || number == ENOTDIR;
    if (number == ELOOP || number == EXDEV) {
        (void)fail(
            &e, ERR_DENIED,
            "'%.120s' is a link, or leads out of the task's directory; links are not followed",
            path);
    } else {
        (void)fail_errno(&e, ERR_IO, number, "'%.120s'", path[0] == '\0' ? "." : path);
    }
    error_put(out,
              absent                                                   ? "not-found"
              : number == EACCES || number == ELOOP || number == EXDEV ? "denied"
                                                                       : "io",
              e.text);
}

/* The job directory of the instance. -1: there is none (any more). */
static int base_open(const char *dir, const struct agent_ask *ask)
{
    char path[AGENT_PATH_MAX];
    const int len = snprintf(path, sizeof path, "%s/job/%" PRIu64, dir, ask->task);
    if (len < 0 || (size_t)len >= sizeof path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    const int task = open(path, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (task < 0) {
        return -1;
    }
    (void)snprintf(path, sizeof path, "%" PRIu64, ask->instance);
    const int base = openat(task, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    const int number = errno;
    (void)close(task);
    errno = number;
    return base;
}

/* Opens a name below the base without reading from it, so that nothing happens to a pipe or device. */
static int below_open(int base, const char *path)
{
    struct open_how how = {.flags = O_PATH | O_NOFOLLOW | O_CLOEXEC,
                           .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS |
                                      RESOLVE_NO_MAGICLINKS | RESOLVE_NO_XDEV};
    return (int)syscall(SYS_openat2, base, path[0] == '\0' ? "." : path, &how, sizeof how);
}

/* Opens what an O_PATH descriptor stands for: no other file can have taken the name meanwhile. */
static int again_open(int fd, int flags)
{
    char name[FD_PATH_MAX];
    (void)snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
    return open(name, flags | O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
}

static void version_put(const struct stat *info, char *out)
{
    (void)snprintf(out, VERSION_MAX, "%" PRIx64 "-%" PRIx64 "-%" PRIx64 ".%09ld",
                   (uint64_t)info->st_ino, (uint64_t)info->st_size, (uint64_t)info->st_mtim.tv_sec,
                   info->st_mtim.tv_nsec);
}

static void entry_put(struct json_out *j, const char *name, const struct stat *info)
{
    const char *kind = S_ISREG(info->st_mode)   ? "file"
                       : S_ISDIR(info->st_mode) ? "directory"
                       : S_ISLNK(info->st_mode) ? "link"
                                                : "other";
    json_out_object(j);
    json_out_kv_text(j, "name", name);
    json_out_kv_text(j, "kind", kind);
    json_out_kv_u64(j, "size", S_ISREG(info->st_mode) ? (uint64_t)info->st_size : 0);
    json_out_kv_i64(j, "modified_ms",
                    (int64_t)info->st_mtim.tv_sec * 1000 + info->st_mtim.tv_nsec / 1000000);
    json_out_end(j);
}

static int name_order(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The first names behind `after`, in order. *ret_more: there are further ones. */
static size_t names_read(DIR *entries, const struct agent_ask *ask, char ***ret, bool *ret_more)
{
    VEC(char *) names = {0};
    const struct dirent *entry;
    for (size_t looked = 0; looked < NAMES_LOOKED_MAX && (entry = readdir(entries)) != NULL;
         looked++) {
        const char *name = entry->d_name;
        if (strcmp(name, ".") != 0 && strcmp(name, "..") != 0 && strcmp(name, ask->after) > 0) {
            vec_push(&names, xstrdup(name));
        }
    }
    if (names.count > 0) {
        qsort(names.at, names.count, sizeof *names.at, name_order);
    }
    const size_t limit = ask->limit < FILES_NAMES_MAX ? (size_t)ask->limit : FILES_NAMES_MAX;
    *ret_more = names.count > limit;
    for (size_t i = limit; i < names.count; i++) {
        free(names.at[i]);
    }
    *ret = names.at;
    return names.count < limit ? names.count : limit;
}

static void directory_put(int fd, const struct stat *info, const struct agent_ask *ask,
                          struct buf *out)
{
    const int readable = again_open(fd, O_DIRECTORY);
    DIR *entries = readable < 0 ? NULL : fdopendir(readable);
    if (entries == NULL) {
        errno_put(out, errno, ask->path);
        return;
    }
    struct json_out j;
    char **names;
    bool more;
    const size_t count = names_read(entries, ask, &names, &more);
    json_out_init(&j, out);
    json_out_object(&j);
    json_out_key(&j, "self");
    entry_put(&j, "", info);
    json_out_key(&j, "entries");
    json_out_array(&j);
    for (size_t i = 0; i < count; i++) {
        struct stat entry;
        if (fstatat(dirfd(entries), names[i], &entry, AT_SYMLINK_NOFOLLOW) == 0) {
            entry_put(&j, names[i], &entry);
        }
        free(names[i]);
    }
    json_out_end(&j);
    json_out_kv_bool(&j, "end", !more);
    json_out_end(&j);
    free(names);
    (void)closedir(entries);
}

static void piece_put(int fd, const struct stat *info, const struct agent_ask *ask, struct buf *out)
{
    const int readable = again_open(fd, 0);
    const size_t want = ask->limit < FILES_PIECE_MAX ? (size_t)ask->limit : FILES_PIECE_MAX;
    if (readable < 0) {
        errno_put(out, errno, ask->path);
        return;
    }
    char *bytes = xmalloc(want + 1);
    size_t have = 0;
    ssize_t got = 1;
    while (have < want && got > 0) {
        got = pread(readable, bytes + have, want - have, (off_t)(ask->offset + have));
        have += got > 0 ? (size_t)got : 0;
    }
    (void)close(readable);
    if (got < 0) {
        errno_put(out, errno, ask->path);
    } else {
        struct json_out j;
        struct buf coded;
        char version[VERSION_MAX];
        version_put(info, version);
        buf_init(&coded, FILES_ANSWER_MAX);
        base64_add(&coded, (struct str){bytes, have});
        json_out_init(&j, out);
        json_out_object(&j);
        json_out_kv_u64(&j, "size", (uint64_t)info->st_size);
        json_out_kv_text(&j, "version", version);
        json_out_kv_bool(&j, "end", ask->offset + have >= (uint64_t)info->st_size || have == 0);
        json_out_key(&j, "data");
        json_out_str(&j, (struct str){buf_text(&coded), coded.len});
        json_out_end(&j);
        buf_done(&coded);
    }
    free(bytes);
}

static void opened_put(int fd, uid_t owner, const struct agent_ask *ask, struct buf *out)
{
    struct stat info;
    const bool list = strcmp(ask->what, FILES_ASK_LIST) == 0;
    if (fstat(fd, &info) != 0) {
        errno_put(out, errno, ask->path);
    } else if (info.st_uid != owner) {
        error_put(out, "denied", "the file belongs to another user than the task's directory");
    } else if (S_ISDIR(info.st_mode) && list) {
        directory_put(fd, &info, ask, out);
    } else if (S_ISREG(info.st_mode) && list) {
        struct json_out j;
        json_out_init(&j, out);
        json_out_object(&j);
        json_out_key(&j, "self");
        entry_put(&j, "", &info);
        json_out_kv_bool(&j, "end", true);
        json_out_end(&j);
    } else if (S_ISREG(info.st_mode)) {
        piece_put(fd, &info, ask, out);
    } else {
        error_put(out, "invalid",
                  S_ISDIR(info.st_mode)   ? "the path is a directory"
                  : S_ISLNK(info.st_mode) ? "the path is a link; links are not followed"
                                          : "the path is neither a file nor a directory");
    }
}

void taskfiles_answer(const char *dir, const struct agent_ask *ask, struct buf *out)
{
    struct stat info;
    struct error e;
    if (strcmp(ask->what, FILES_ASK_LIST) != 0 && strcmp(ask->what, FILES_ASK_READ) != 0) {
        error_put(out, "unknown", "the node's agent does not know this question");
        return;
    }
    if (files_path_check(ask->path, &e) != ERR_OK) {
        error_put(out, "invalid", e.text);
        return;
    }
    const int base = base_open(dir, ask);
    if (base < 0 || fstat(base, &info) != 0) {
        error_put(out, "not-found",
                  "the instance has no directory on its node: it wrote no file, or the directory "
                  "was cleaned up");
    } else {
        const int fd = below_open(base, ask->path);
        if (fd < 0) {
            errno_put(out, errno, ask->path);
        } else {
            opened_put(fd, info.st_uid, ask, out);
            (void)close(fd);
        }
    }
    if (base >= 0) {
        (void)close(base);
    }
}
