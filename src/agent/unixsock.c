/* unixsock.c - a unix socket in a directory whose path may be long. The socket is reached through
 * /proc/self/fd, because a socket address has room for 107 characters only.
 * SPDX-License-Identifier: Apache-2.0 */
#include "agent/unixsock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define SOCKET_NAME "supervisor.sock"
#define DOOR_NAME "door.sock"
enum { BACKLOG = 8 };

/* Opens both the directory and a socket. */
static must_use enum err open_both(const char *dir, int type, int *ret_dir, int *ret_sock,
                                   struct error *e)
{
    int dir_fd = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (dir_fd < 0) {
        return fail_errno(e, ERR_IO, errno, "cannot open '%s'", dir);
    }
    int sock = socket(AF_UNIX, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (sock < 0) {
        int why = errno;
        (void)close(dir_fd);
        return fail_errno(e, ERR_IO, why, "cannot make a socket");
    }
    *ret_dir = dir_fd;
    *ret_sock = sock;
    return ERR_OK;
}

static struct sockaddr_un address_of(int dir_fd, const char *name)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    (void)snprintf(address.sun_path, sizeof address.sun_path, "/proc/self/fd/%d/%s", dir_fd, name);
    return address;
}

/* Makes the socket's file, which only its owner can use, and listens on it. False: errno says why. */
static bool listens(int sock, int dir_fd, const char *name, const struct sockaddr_un *address)
{
    (void)unlinkat(dir_fd, name, 0);
    const mode_t before = umask(0177);
    const bool ok = bind(sock, (const struct sockaddr *)address, sizeof *address) == 0 &&
                    listen(sock, BACKLOG) == 0;
    const int why = errno;
    (void)umask(before);
    errno = why;
    return ok;
}

static must_use enum err socket_on(const char *dir, const char *name, int type, bool listener,
                                   int *ret_fd, struct error *e)
{
    int dir_fd = -1;
    int sock = -1;
    enum err r = open_both(dir, type, &dir_fd, &sock, e);
    if (r != ERR_OK) {
        return r;
    }
    const struct sockaddr_un address = address_of(dir_fd, name);
    const bool ok = listener
                        ? listens(sock, dir_fd, name, &address)
                        : connect(sock, (const struct sockaddr *)&address, sizeof address) == 0;
    const int why = errno;
    (void)close(dir_fd);
    if (!ok) {
        (void)close(sock);
        return listener ? fail_errno(e, ERR_IO, why, "cannot listen on '%s/%s'", dir, name)
                        : fail_errno(e, ERR_UNREACHABLE, why, "no supervisor answers in '%s'", dir);
    }
    *ret_fd = sock;
    return ERR_OK;
}

must_use enum err unixsock_listen(const char *dir, int *ret_fd, struct error *e)
{
    return socket_on(dir, SOCKET_NAME, SOCK_STREAM, true, ret_fd, e);
}

must_use enum err unixsock_connect(const char *dir, int *ret_fd, struct error *e)
{
    return socket_on(dir, SOCKET_NAME, SOCK_STREAM, false, ret_fd, e);
}

must_use enum err unixsock_door_listen(const char *dir, int *ret_fd, struct error *e)
{
    return socket_on(dir, DOOR_NAME, SOCK_SEQPACKET, true, ret_fd, e);
}

must_use enum err unixsock_door_connect(const char *dir, int *ret_fd, struct error *e)
{
    return socket_on(dir, DOOR_NAME, SOCK_SEQPACKET, false, ret_fd, e);
}

static ino_t inode_of(const char *dir, const char *name)
{
    struct stat info;
    int dir_fd = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (dir_fd < 0) {
        return 0;
    }
    bool there = fstatat(dir_fd, name, &info, AT_SYMLINK_NOFOLLOW) == 0 && S_ISSOCK(info.st_mode);
    (void)close(dir_fd);
    return there ? info.st_ino : 0;
}

ino_t unixsock_inode(const char *dir)
{
    return inode_of(dir, SOCKET_NAME);
}

ino_t unixsock_door_inode(const char *dir)
{
    return inode_of(dir, DOOR_NAME);
}
