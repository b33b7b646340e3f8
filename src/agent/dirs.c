/* dirs.c - the node's directory and its small files. SPDX-License-Identifier: Apache-2.0 */
#include "agent/dirs.h"

#include "agent/limits.h"
#include "base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SMALL_FILE_MAX = 64 * 1024, LOG_FILE_MAX = 4 * 1024 * 1024 };

static must_use enum err path_of(const char *dir, const char *name, char *out, struct error *e)
{
    int len = snprintf(out, AGENT_PATH_MAX, "%s/%s", dir, name);
    if (len < 0 || len >= AGENT_PATH_MAX) {
        return fail(e, ERR_LIMIT, "the directory's name is over %d characters", AGENT_PATH_MAX);
    }
    return ERR_OK;
}

must_use enum err dirs_make(const char *dir, struct error *e)
{
    char path[AGENT_PATH_MAX];
    if (strlen(dir) + sizeof "/spool/00000000" >= sizeof path) {
        return fail(e, ERR_LIMIT, "the directory's name is over %zu characters", sizeof path);
    }
    for (size_t i = 1; i <= strlen(dir); i++) {
        if (dir[i] != '/' && dir[i] != '\0') {
            continue;
        }
        (void)snprintf(path, sizeof path, "%.*s", (int)i, dir);
        if (mkdir(path, 0711) != 0 && errno != EEXIST) {
            return fail_errno(e, ERR_IO, errno, "cannot make the directory '%s'", path);
        }
    }
    return ERR_OK;
}

int dirs_lock_holder(const char *dir, const char *name)
{
    struct arena arena;
    arena_init(&arena);
    struct str text;
    uint64_t pid = 0;
    if (dirs_read(dir, name, &arena, &text, NULL) == ERR_OK) {
        (void)str_to_u64(text, &pid);
    }
    arena_done(&arena);
    return (int)pid;
}

static bool pid_write(int fd)
{
    char text[32];
    int len = snprintf(text, sizeof text, "%d\n", (int)getpid());
    return ftruncate(fd, 0) == 0 && pwrite(fd, text, (size_t)len, 0) == len;
}

must_use enum err dirs_lock(const char *dir, const char *name, int *ret_fd, struct error *e)
{
    char path[AGENT_PATH_MAX];
    enum err r = path_of(dir, name, path, e);
    if (r != ERR_OK) {
        return r;
    }
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0) {
        return fail_errno(e, ERR_IO, errno, "cannot open '%s'", path);
    }
    if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
        int why = errno;
        (void)close(fd);
        if (why != EWOULDBLOCK) {
            return fail_errno(e, ERR_IO, why, "cannot lock '%s'", path);
        }
        return fail(e, ERR_CONFLICT, "'%s' is in use by the process %d", dir,
                    dirs_lock_holder(dir, name));
    }
    if (!pid_write(fd)) {
        int why = errno;
        (void)close(fd);
        return fail_errno(e, ERR_IO, why, "cannot write '%s'", path);
    }
    *ret_fd = fd;
    return ERR_OK;
}

bool dirs_still_there(const char *dir, const char *name, int fd)
{
    char path[AGENT_PATH_MAX];
    struct stat by_name;
    struct stat open_file;
    (void)snprintf(path, sizeof path, "%s/%s", dir, name);
    return stat(path, &by_name) == 0 && fstat(fd, &open_file) == 0 &&
           by_name.st_ino == open_file.st_ino && by_name.st_dev == open_file.st_dev;
}

must_use enum err dirs_lock_hold(const char *dir, const char *name, int *fd, struct error *e)
{
    struct stat info;
    if (dirs_still_there(dir, name, *fd)) {
        if (fstat(*fd, &info) == 0 && info.st_size == 0 && !pid_write(*fd)) {
            return fail_errno(e, ERR_IO, errno, "cannot write '%s/%s'", dir, name);
        }
        return ERR_OK;
    }
    int fresh;
    enum err r = dirs_lock(dir, name, &fresh, e);
    if (r == ERR_OK) {
        log_warn("a lock was gone and is taken anew", kv_str("lock", name));
        (void)close(*fd);
        *fd = fresh;
    }
    return r;
}

must_use enum err dirs_read(const char *dir, const char *name, struct arena *arena, struct str *ret,
                            struct error *e)
{
    char path[AGENT_PATH_MAX];
    if (dir == NULL) {
        (void)str_copy(path, sizeof path, name);
    } else {
        enum err r = path_of(dir, name, path, e);
        if (r != ERR_OK) {
            return r;
        }
    }
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        enum err code = errno == ENOENT ? ERR_NOT_FOUND : ERR_IO;
        return fail_errno(e, code, errno, "cannot read '%s'", path);
    }
    char *text = arena_alloc(arena, SMALL_FILE_MAX + 1);
    ssize_t len = read(fd, text, SMALL_FILE_MAX);
    int why = errno;
    (void)close(fd);
    if (len < 0) {
        return fail_errno(e, ERR_IO, why, "cannot read '%s'", path);
    }
    while (len > 0 && (text[len - 1] == '\n' || text[len - 1] == '\r')) {
        text[--len] = '\0';
    }
    *ret = (struct str){text, (size_t)len};
    return ERR_OK;
}

must_use enum err dirs_write(const char *dir, const char *name, struct str text, struct error *e)
{
    char path[AGENT_PATH_MAX];
    char fresh[AGENT_PATH_MAX + 8];
    enum err r = path_of(dir, name, path, e);
    if (r != ERR_OK) {
        return r;
    }
    (void)snprintf(fresh, sizeof fresh, "%s.new", path);
    int fd = open(fresh, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0) {
        return fail_errno(e, ERR_IO, errno, "cannot write '%s'", fresh);
    }
    bool ok = write(fd, text.p, text.len) == (ssize_t)text.len && fsync(fd) == 0;
    int why = errno;
    (void)close(fd);
    if (!ok || rename(fresh, path) != 0) {
        why = ok ? errno : why;
        (void)unlink(fresh);
        return fail_errno(e, ERR_IO, why, "cannot write '%s'", path);
    }
    return ERR_OK;
}

void dirs_log_to_file(const char *dir)
{
    char path[AGENT_PATH_MAX];
    struct stat info;
    if (path_of(dir, SUPERVISOR_LOG, path, NULL) != ERR_OK) {
        return;
    }
    bool large = stat(path, &info) == 0 && info.st_size > LOG_FILE_MAX;
    int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | (large ? O_TRUNC : 0), 0600);
    if (fd >= 0) {
        (void)dup2(fd, STDERR_FILENO);
        (void)close(fd);
    }
}
