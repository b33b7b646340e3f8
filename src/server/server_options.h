/* server_options.h - the command line and the configuration file of `weir server`.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/arena.h"
#include "base/fail.h"
#include "spec/server_file.h"

struct server_options {
    struct server_file file; /* the defaults where there is no file */
    const char *config;      /* the file's path; NULL: no file */
    const char *dir;
    const char *address;
    uint16_t port;
    int ready_fd;         /* -1: none */
    int inherited;        /* above 0: the parent gave a socket that listens (LISTEN_FDS) */
    const char *report;   /* the problems of the file, as text; NULL: none */
    bool insecure_listen; /* plain HTTP is allowed beyond loopback */
    const char *listen;   /* as the command line says it; NULL: it does not */
    const char *socket;   /* path of the socket for commands on this machine; NULL: none */
    const char *tls_cert; /* paths; NULL: D/tls/server.pem and D/tls/server.key, where they exist */
    const char *tls_key;
};

/* ERR_USAGE, or the error in the file, with all problems in `ret->report`. Everything lives in the arena. */
must_use enum err server_options_read(int argc, char **argv, struct arena *arena,
                                      struct server_options *ret, struct error *e);

/* The text of the file. */
must_use enum err server_options_text(const char *path, struct arena *arena, struct str *ret,
                                      struct error *e);

/* Reads the file again, for SIGHUP. `*report` is set where the file has problems. */
must_use enum err server_options_file(const char *path, struct arena *arena,
                                      struct server_file *ret, const char **report,
                                      struct error *e);
