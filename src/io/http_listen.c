/* http_listen.c - the sockets on which a server listens: TCP, or a file on this machine.
 * SPDX-License-Identifier: Apache-2.0 */
#include "io/http_internal.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

enum { LISTEN_BACKLOG = 1024, INHERITED_DEFER_S = 1 };

static enum err address_parse(const struct http_server_options *options,
                              struct sockaddr_storage *ret, socklen_t *ret_len, struct error *e)
{
    struct sockaddr_in v4 = {.sin_family = AF_INET, .sin_port = htons(options->port)};
    struct sockaddr_in6 v6 = {.sin6_family = AF_INET6, .sin6_port = htons(options->port)};
    if (inet_pton(AF_INET, options->address, &v4.sin_addr) == 1) {
        memcpy(ret, &v4, sizeof v4);
        *ret_len = sizeof v4;
    } else if (inet_pton(AF_INET6, options->address, &v6.sin6_addr) == 1) {
        memcpy(ret, &v6, sizeof v6);
        *ret_len = sizeof v6;
    } else {
        return fail(e, ERR_INVALID, "'%s' is not an IPv4 or IPv6 address", options->address);
    }
    return ERR_OK;
}

/* A socket file that only the owner and root may open. The file of an earlier server is replaced. */
static enum err unix_listen(const char *path, int *ret_fd, struct error *e)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (!str_copy(address.sun_path, sizeof address.sun_path, path)) {
        return fail(e, ERR_LIMIT, "the path of the socket '%s' is longer than %zu bytes", path,
                    sizeof address.sun_path - 1);
    }
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0) {
        return fail_errno(e, ERR_IO, errno, "cannot make a socket");
    }
    (void)unlink(path);
    /* Before listen() nobody can connect, so the mode is right for the first client. */
    if (bind(fd, (struct sockaddr *)&address, sizeof address) != 0 || chmod(path, 0600) != 0 ||
        listen(fd, LISTEN_BACKLOG) != 0) {
        int number = errno;
        (void)close(fd);
        return fail_errno(e, ERR_IO, number, "cannot listen on '%s'", path);
    }
    *ret_fd = fd;
    return ERR_OK;
}

/* The socket stays open in the process that gave it, so clients may connect while no server runs. */
static enum err inherited_take(int fd, int *ret_fd, uint16_t *ret_port, struct error *e)
{
    struct sockaddr_storage address = {0};
    socklen_t len = sizeof address;
    int listens = 0;
    socklen_t size = sizeof listens;
    const int on = 1;
    const int defer_s = INHERITED_DEFER_S;
    if (getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size) != 0 || listens == 0 ||
        getsockname(fd, (struct sockaddr *)&address, &len) != 0 ||
        (address.ss_family != AF_INET && address.ss_family != AF_INET6)) {
        return fail(e, ERR_INVALID, "descriptor %d is no TCP socket that listens", fd);
    }
    if (fcntl(fd, F_SETFD, FD_CLOEXEC) != 0 || fcntl(fd, F_SETFL, O_NONBLOCK) != 0) {
        return fail_errno(e, ERR_IO, errno, "cannot use descriptor %d", fd);
    }
    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    /* A connection is taken when its first bytes are there: until then it survives the end of this server. */
    (void)setsockopt(fd, IPPROTO_TCP, TCP_DEFER_ACCEPT, &defer_s, sizeof defer_s);
    in_port_t port = address.ss_family == AF_INET
                         ? ((struct sockaddr_in *)(void *)&address)->sin_port
                         : ((struct sockaddr_in6 *)(void *)&address)->sin6_port;
    *ret_fd = fd;
    *ret_port = ntohs(port);
    return ERR_OK;
}

must_use enum err http_listen(const struct http_server_options *options, int *ret_fd,
                              uint16_t *ret_port, struct error *e)
{
    if (options->unix_path != NULL) {
        *ret_port = 0;
        return unix_listen(options->unix_path, ret_fd, e);
    }
    if (options->inherited > 0) {
        return inherited_take(options->inherited, ret_fd, ret_port, e);
    }
    struct sockaddr_storage address = {0};
    socklen_t len = 0;
    enum err r = address_parse(options, &address, &len, e);
    if (r != ERR_OK) {
        return r;
    }
    int fd = socket(address.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0) {
        return fail_errno(e, ERR_IO, errno, "cannot make a socket");
    }
    int on = 1;
    (void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    /* Accepted sockets inherit it. */
    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    if (bind(fd, (struct sockaddr *)&address, len) != 0 || listen(fd, LISTEN_BACKLOG) != 0 ||
        getsockname(fd, (struct sockaddr *)&address, &len) != 0) {
        int number = errno;
        (void)close(fd);
        return fail_errno(e, number == EADDRINUSE ? ERR_CONFLICT : ERR_IO, number,
                          "cannot listen on %s port %u", options->address, options->port);
    }
    in_port_t port = address.ss_family == AF_INET
                         ? ((struct sockaddr_in *)(void *)&address)->sin_port
                         : ((struct sockaddr_in6 *)(void *)&address)->sin6_port;
    *ret_fd = fd;
    *ret_port = ntohs(port);
    return ERR_OK;
}
