/* updir.c - see updir.h. The lock is a POSIX record lock. The kernel says which process holds
 * the lock, so that a stale process id is never mistaken for a running `weir up`.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/updir.h"

#include "base/str.h"
#include "cli/login.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

/* True when this process holds the lock. The lock file must then not be opened again, because
 * closing any descriptor of the file releases a record lock. */
static bool lock_is_ours;

static pid_t lock_holder(const char *path)
{
    if (lock_is_ours) {
        return getpid();
    }
    int fd = open(path, O_RDWR | O_CLOEXEC);
    if (fd < 0) {
        return 0;
    }
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    pid_t holder = fcntl(fd, F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK ? lock.l_pid : 0;
    (void)close(fd);
    return holder;
}

bool updir_read(struct arena *arena, const char *dir, struct updir_info *ret)
{
    *ret = (struct updir_info){0};
    const char *text;
    if (login_file_read(arena, arena_fmt(arena, "%s/up.pid", dir), &text, NULL) != ERR_OK) {
        return false;
    }
    struct str rest = str_of(text);
    while (rest.p != NULL) {
        struct str value;
        struct str key = str_cut(str_cut(rest, '\n', &rest), ':', &value);
        uint64_t number = 0;
        if (value.p == NULL) {
            continue;
        }
        value = str_trim(value);
        bool is_number = str_to_u64(value, &number) && number < 1u << 30;
        if (str_is(key, "url")) {
            ret->url = arena_strn(arena, value.p, value.len);
        } else if (str_is(key, "server") && is_number) {
            ret->server = (pid_t)number;
        } else if (str_is(key, "agent") && is_number) {
            ret->agent = (pid_t)number;
        }
    }
    ret->holder = lock_holder(arena_fmt(arena, "%s/up.lock", dir));
    return true;
}

enum err updir_lock(struct arena *arena, const char *dir, struct error *e)
{
    const char *path = arena_fmt(arena, "%s/up.lock", dir);
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0) {
        return fail_errno(e, ERR_IO, errno, "cannot open %s", path);
    }
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    if (fcntl(fd, F_SETLK, &lock) == 0) {
        /* The descriptor stays open, because closing it would release the lock. */
        lock_is_ours = true;
        return ERR_OK;
    }
    int number = errno;
    (void)close(fd);
    if (number != EAGAIN && number != EACCES) {
        return fail_errno(e, ERR_IO, number, "cannot lock %s", path);
    }
    struct updir_info info;
    (void)updir_read(arena, dir, &info);
    return fail(e, ERR_CONFLICT,
                "`weir up` runs on %s already (process %d, %s); `weir down` ends it", dir,
                (int)info.holder, info.url == NULL ? "starting" : info.url);
}

enum err updir_write(struct arena *arena, const char *dir, const struct updir_info *info,
                     struct error *e)
{
    const char *text = arena_fmt(arena, "pid: %d\nurl: %s\nserver: %d\nagent: %d\n", (int)getpid(),
                                 info->url, (int)info->server, (int)info->agent);
    return login_file_write(arena, arena_fmt(arena, "%s/up.pid", dir), text, 0644, e);
}
