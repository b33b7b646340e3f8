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
enum { BACKLOG = 8 };

/* Opens both the directory and a socket. */
static must_use enum err open_both(const char *dir, int *ret_dir, int *ret_sock, struct error *e)
{
    int dir_fd = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (dir_fd < 0) {
        return fail_errno(e, ERR_IO, errno, "cannot open '%s'", dir);
    }
    int sock = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (sock < 0) {
        int why = errno;
        (void)close(dir_fd);
        return fail_errno(e, ERR_IO, why, "cannot make a socket");
    }
    *ret_dir = dir_fd;
    *ret_sock = sock;
    return ERR_OK;
}

static struct sockaddr_un address_of(int dir_fd)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    (void)snprintf(address.sun_path, sizeof address.sun_path, "/proc/self/fd/%d/" SOCKET_NAME,
                   dir_fd);
    return address;
}

must_use enum err unixsock_listen(const char *dir, int *ret_fd, struct error *e)
{
    int dir_fd;
    int sock;
    enum err r = open_both(dir, &dir_fd, &sock, e);
    if (r != ERR_OK) {
        return r;
    }
    struct sockaddr_un address = address_of(dir_fd);
    (void)unlinkat(dir_fd, SOCKET_NAME, 0);
    mode_t before = umask(0177);
    bool ok =
        bind(sock, (struct sockaddr *)&address, sizeof address) == 0 && listen(sock, BACKLOG) == 0;
    int why = errno;
    (void)umask(before);
    (void)close(dir_fd);
    if (!ok) {
        (void)close(sock);
        return fail_errno(e, ERR_IO, why, "cannot listen on '%s/" SOCKET_NAME "'", dir);
    }
    *ret_fd = sock;
    return ERR_OK;
}

must_use enum err unixsock_connect(const char *dir, int *ret_fd, struct error *e)
{
    int dir_fd;
    int sock;
    enum err r = open_both(dir, &dir_fd, &sock, e);
    if (r != ERR_OK) {
        return r;
    }
    struct sockaddr_un address = address_of(dir_fd);
    bool ok = connect(sock, (struct sockaddr *)&address, sizeof address) == 0;
    int why = errno;
    (void)close(dir_fd);
    if (!ok) {
        (void)close(sock);
        return fail_errno(e, ERR_UNREACHABLE, why, "no supervisor answers in '%s'", dir);
    }
    *ret_fd = sock;
    return ERR_OK;
}

ino_t unixsock_inode(const char *dir)
{
    struct stat info;
    int dir_fd = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (dir_fd < 0) {
        return 0;
    }
    bool there =
        fstatat(dir_fd, SOCKET_NAME, &info, AT_SYMLINK_NOFOLLOW) == 0 && S_ISSOCK(info.st_mode);
    (void)close(dir_fd);
    return there ? info.st_ino : 0;
}
