/* login.h - which server, and as whom: --server, WEIR_SERVER and WEIR_TOKEN, the saved login, or a
 * `weir up` in the usual place. A token is only ever sent to the server it was saved for.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/arena.h"
#include "base/fail.h"

#include <stdbool.h>

struct http_client;

enum { LOGIN_FILE_MAX = 16 * 1024 };

struct login {
    const char *url;   /* NULL: none was found */
    const char *token; /* NULL: none */
    const char *dir;   /* of the `weir up` it belongs to, or NULL */
    const char *from;  /* where the address comes from, for messages */
    bool saved;        /* nobody named the address: where it is saved may change */
};

/* The login in force. A missing one is no failure: url is NULL. */
must_use enum err login_find(struct arena *arena, const char *server_flag, struct login *ret,
                             struct error *e);

/* A client for it. One with a saved address looks it up again before each further try, since a
 * restarted `weir up --port 0` is elsewhere. */
struct http_client *login_client(const struct login *login);

/* What is written: either the token itself or the path of a file that holds it. */
struct login_entry {
    const char *url;
    const char *token;
    const char *token_file;
    const char *dir;
};

/* Replaces the saved login (mode 0600, directory 0700). */
must_use enum err login_save(struct arena *arena, const struct login_entry *entry, struct error *e);

/* Where the login is saved. */
const char *login_path(struct arena *arena);

/* Where `weir up` keeps its data unless told: /var/lib/weir for root, else ~/.local/share/weir. */
const char *login_default_dir(struct arena *arena);

/* Does the URL name this machine's loopback? */
bool login_is_local(const char *url);

/* A small text file, trimmed; ERR_NOT_FOUND, ERR_IO. */
must_use enum err login_file_read(struct arena *arena, const char *path, const char **ret,
                                  struct error *e);

/* Writes a file whole or not at all: temporary name, then rename. */
must_use enum err login_file_write(struct arena *arena, const char *path, const char *text,
                                   unsigned mode, struct error *e);

/* mkdir -p. */
must_use enum err login_dirs_make(struct arena *arena, const char *path, unsigned mode,
                                  struct error *e);
