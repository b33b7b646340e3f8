/* server_options.c - see server_options.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "server/server_options.h"

#include "base/buf.h"
#include "io/tls_dir.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdlib.h>
#include <unistd.h>

enum { CONFIG_BYTES_MAX = 4 * 1024 * 1024, READ_BYTES = 64 * 1024 };

static const char usage[] =
    "use: weir server --config FILE | --dir DIR [--listen ADDRESS:PORT] [--ready-fd N] "
    "[--tls-cert FILE --tls-key FILE] [--insecure-listen] [--socket FILE]";

enum err server_options_text(const char *path, struct arena *arena, struct str *ret,
                             struct error *e)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return fail_errno(e, ERR_NOT_FOUND, errno, "'%s'", path);
    }
    struct buf text;
    char *piece = arena_alloc(arena, READ_BYTES);
    ssize_t n;
    buf_init(&text, CONFIG_BYTES_MAX);
    while ((n = read(fd, piece, READ_BYTES)) > 0) {
        buf_add(&text, piece, (size_t)n);
    }
    enum err r = ERR_OK;
    if (n < 0) {
        r = fail_errno(e, ERR_IO, errno, "'%s'", path);
    } else if (text.full) {
        r = fail(e, ERR_LIMIT, "'%s' is larger than %d bytes", path, CONFIG_BYTES_MAX);
    } else {
        *ret = (struct str){arena_strn(arena, buf_text(&text), text.len), text.len};
    }
    buf_done(&text);
    (void)close(fd);
    return r;
}

enum err server_options_file(const char *path, struct arena *arena, struct server_file *ret,
                             const char **report, struct error *e)
{
    struct str text;
    struct problems problems;
    enum err r = server_options_text(path, arena, &text, e);
    if (r == ERR_OK) {
        r = server_file_read(text, path, arena, ret, &problems, e);
        *report = r != ERR_OK ? problem_report(&problems, path, text, arena) : NULL;
    }
    return r;
}

struct raw_options {
    const char *config;
    const char *dir;
    const char *listen;
    const char *ready_fd;
    bool insecure_listen;
    const char *socket;
    const char *tls_cert;
    const char *tls_key;
};

static enum err raw_read(int argc, char **argv, struct raw_options *ret, struct error *e)
{
    static const struct option known[] = {
        {"config", required_argument, NULL, 'c'},
        {"dir", required_argument, NULL, 'd'},
        {"listen", required_argument, NULL, 'l'},
        {"ready-fd", required_argument, NULL, 'r'},
        {"insecure-listen", no_argument, NULL, 'i'},
        {"tls-cert", required_argument, NULL, 't'},
        {"tls-key", required_argument, NULL, 'k'},
        {"socket", required_argument, NULL, 's'},
        {NULL, 0, NULL, 0},
    };
    int c;
    optind = 1;
    opterr = 0;
    *ret = (struct raw_options){0};
    while ((c = getopt_long(argc, argv, "", known, NULL)) != -1) {
        switch (c) {
        case 'c':
            ret->config = optarg;
            break;
        case 'd':
            ret->dir = optarg;
            break;
        case 'l':
            ret->listen = optarg;
            break;
        case 'r':
            ret->ready_fd = optarg;
            break;
        case 'i':
            ret->insecure_listen = true;
            break;
        case 't':
            ret->tls_cert = optarg;
            break;
        case 's':
            ret->socket = optarg;
            break;
        case 'k':
            ret->tls_key = optarg;
            break;
        default:
            return fail(e, ERR_USAGE, "'%s' is not understood; %s", argv[optind - 1], usage);
        }
    }
    if (optind < argc) {
        return fail(e, ERR_USAGE, "'%s' is one word too many; %s", argv[optind], usage);
    }
    if (ret->config == NULL && ret->dir == NULL) {
        return fail(e, ERR_USAGE, "no data directory; %s", usage);
    }
    return ERR_OK;
}

/* Beyond loopback there must be a certificate, or the word that plain HTTP is meant. */
static enum err tls_choose(const struct raw_options *raw, struct arena *arena,
                           struct server_options *ret, struct error *e)
{
    /* Tasks of a server that is not root's may run with its account, and must not become administrators. */
    ret->socket = raw->socket != NULL ? raw->socket
                  : geteuid() == 0    ? arena_fmt(arena, "%s/weir.sock", ret->dir)
                                      : NULL;
    ret->tls_cert = raw->tls_cert != NULL ? raw->tls_cert : ret->file.tls_cert;
    ret->tls_key = raw->tls_key != NULL ? raw->tls_key : ret->file.tls_key;
    if ((ret->tls_cert == NULL) != (ret->tls_key == NULL)) {
        return fail(e, ERR_USAGE, "a certificate needs its key: --tls-cert FILE --tls-key FILE");
    }
    if (ret->tls_cert == NULL && !tls_dir_has(arena, ret->dir, TLS_DIR_CERT) &&
        !ret->insecure_listen && !server_file_listen_is_loopback(ret->address)) {
        return fail(e, ERR_USAGE,
                    "'%s' is reachable from other machines and there is no certificate; `weir tls "
                    "init --dir %.80s` makes one; or listen on 127.0.0.1, or say --insecure-listen",
                    ret->address, ret->dir);
    }
    return ERR_OK;
}

/* The protocol of systemd: LISTEN_FDS sockets, from descriptor 3 on, for the process LISTEN_PID. The server takes one. The
 * variables are removed, because they are not for the server's children. Returns 0 where there is none. */
static int inherited_fd(void)
{
    enum { FIRST = 3 };
    const char *pid = getenv("LISTEN_PID");
    const char *fds = getenv("LISTEN_FDS");
    uint64_t whose = 0;
    uint64_t count = 0;
    const bool mine = pid != NULL && fds != NULL && str_to_u64(str_of(pid), &whose) &&
                      whose == (uint64_t)getpid() && str_to_u64(str_of(fds), &count) && count > 0;
    (void)unsetenv("LISTEN_PID");
    (void)unsetenv("LISTEN_FDS");
    (void)unsetenv("LISTEN_FDNAMES");
    return mine ? FIRST : 0;
}

enum err server_options_read(int argc, char **argv, struct arena *arena, struct server_options *ret,
                             struct error *e)
{
    struct raw_options raw;
    uint64_t ready_fd;
    enum err r = raw_read(argc, argv, &raw, e);
    if (r != ERR_OK) {
        return r;
    }
    *ret = (struct server_options){.config = raw.config,
                                   .listen = raw.listen,
                                   .ready_fd = -1,
                                   .insecure_listen = raw.insecure_listen};
    server_file_init(&ret->file);
    if (raw.config != NULL) {
        r = server_options_file(raw.config, arena, &ret->file, &ret->report, e);
    }
    ret->dir = raw.dir != NULL ? raw.dir : ret->file.data_dir;
    ret->address = ret->file.listen_address;
    ret->port = ret->file.listen_port;
    if (r == ERR_OK && raw.listen != NULL) {
        r = server_file_listen_parse(str_of(raw.listen), arena, &ret->address, &ret->port, e);
    }
    if (r == ERR_OK && raw.ready_fd != NULL) {
        if (!str_to_u64(str_of(raw.ready_fd), &ready_fd) || ready_fd > INT32_MAX) {
            return fail(e, ERR_USAGE, "--ready-fd takes a number, not '%s'", raw.ready_fd);
        }
        ret->ready_fd = (int)ready_fd;
    }
    ret->inherited = inherited_fd();
    return r == ERR_OK ? tls_choose(&raw, arena, ret, e) : r;
}
