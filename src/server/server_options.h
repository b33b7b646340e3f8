/* server_options.h - `weir server`: its command line and configuration file.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/arena.h"
#include "base/fail.h"
#include "spec/server_file.h"

struct server_options {
    struct server_file file; /* or what a server is without one */
    const char *config;      /* path; NULL: none */
    const char *dir;
    const char *address;
    uint16_t port;
    int ready_fd;         /* -1: none */
    bool insecure_listen; /* plain HTTP beyond loopback */
};

/* ERR_USAGE, or what is wrong with the file. Everything lives in the arena. */
must_use enum err server_options_read(int argc, char **argv, struct arena *arena,
                                      struct server_options *ret, struct error *e);

/* The file again, for SIGHUP. */
must_use enum err server_options_file(const char *path, struct arena *arena,
                                      struct server_file *ret, struct error *e);
