/* port.c - see port.h. The listening process is found as ss(8) finds it: /proc/net/tcp has the
 * socket's inode, and /proc/PID/fd shows which process has this socket open.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/port.h"

#include "base/str.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { TCP_LISTENS = 0x0a, COMMAND_LINE_MAX = 4096, FDS_MAX = 4096 };

/* Returns the inode of the socket that listens on this port, or 0. */
static unsigned long socket_inode(unsigned port)
{
    FILE *file = fopen("/proc/net/tcp", "re");
    if (file == NULL) {
        return 0;
    }
    char line[512];
    unsigned long found = 0;
    while (found == 0 && fgets(line, sizeof line, file) != NULL) {
        unsigned local = 0;
        unsigned state = 0;
        unsigned long inode = 0;
        int fields = sscanf(line, " %*u: %*x:%x %*x:%*x %x %*x:%*x %*x:%*x %*x %*u %*u %lu", &local,
                            &state, &inode);
        if (fields == 3 && local == port && state == TCP_LISTENS) {
            found = inode;
        }
    }
    (void)fclose(file);
    return found;
}

static bool process_has(const char *pid, const char *link_wanted)
{
    char path[300];
    (void)snprintf(path, sizeof path, "/proc/%s/fd", pid);
    DIR *dir = opendir(path);
    if (dir == NULL) {
        return false;
    }
    bool found = false;
    const struct dirent *entry;
    for (int i = 0; !found && i < FDS_MAX && (entry = readdir(dir)) != NULL; i++) {
        char link[64];
        ssize_t len = readlinkat(dirfd(dir), entry->d_name, link, sizeof link - 1);
        link[len < 0 ? 0 : len] = '\0';
        found = strcmp(link, link_wanted) == 0;
    }
    (void)closedir(dir);
    return found;
}

/* Returns the process that has the socket open, or 0. */
static unsigned long socket_owner(unsigned long inode)
{
    char wanted[64];
    (void)snprintf(wanted, sizeof wanted, "socket:[%lu]", inode);
    DIR *dir = opendir("/proc");
    unsigned long owner = 0;
    const struct dirent *entry;
    while (dir != NULL && owner == 0 && (entry = readdir(dir)) != NULL) {
        uint64_t pid;
        if (str_to_u64(str_of(entry->d_name), &pid) && process_has(entry->d_name, wanted)) {
            owner = (unsigned long)pid;
        }
    }
    if (dir != NULL) {
        (void)closedir(dir);
    }
    return owner;
}

/* Returns "weir on /var/lib/weir", or the name of the program. */
static const char *owner_name(struct arena *arena, unsigned long pid)
{
    char path[64];
    char words[COMMAND_LINE_MAX] = "";
    (void)snprintf(path, sizeof path, "/proc/%lu/cmdline", pid);
    FILE *file = fopen(path, "re");
    size_t len = file == NULL ? 0 : fread(words, 1, sizeof words - 1, file);
    if (file != NULL) {
        (void)fclose(file);
    }
    const char *first = arena_str(arena, words);
    const char *base = strrchr(first, '/') == NULL ? first : strrchr(first, '/') + 1;
    for (size_t at = 0; at < len; at += strlen(words + at) + 1) {
        const char *next = words + at + strlen(words + at) + 1;
        if (strcmp(words + at, "--dir") == 0 && next < words + len) {
            return arena_fmt(arena, "%s on %s", base, next);
        }
    }
    return base;
}

enum err port_check(struct arena *arena, unsigned port, struct error *e)
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0) {
        return fail_errno(e, ERR_IO, errno, "cannot make a socket");
    }
    int yes = 1;
    (void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    struct sockaddr_in address = {
        .sin_family = AF_INET,
        .sin_port = htons((uint16_t)port),
        .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
    };
    const struct sockaddr *generic = (const struct sockaddr *)&address;
    bool well = bind(fd, generic, sizeof address) == 0 && listen(fd, 1) == 0;
    int number = errno;
    (void)close(fd);
    if (well) {
        return ERR_OK;
    }
    if (number != EADDRINUSE) {
        return fail_errno(e, ERR_IO, number, "cannot listen on 127.0.0.1:%u", port);
    }
    unsigned long inode = socket_inode(port);
    unsigned long owner = inode == 0 ? 0 : socket_owner(inode);
    if (owner == 0) {
        return fail(e, ERR_CONFLICT,
                    "port %u is in use by another program; --port 0 takes a free one", port);
    }
    return fail(e, ERR_CONFLICT, "port %u is in use by %s (process %lu); --port 0 takes a free one",
                port, owner_name(arena, owner), owner);
}
