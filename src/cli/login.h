/* login.h - finds the server and the token: from --server, WEIR_SERVER and WEIR_TOKEN, the saved
 * login, or a `weir up` in the usual directory. A token is sent only to the server for which it
 * was saved.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/arena.h"
#include "base/fail.h"

#include <stdbool.h>

struct http_client;

enum { LOGIN_FILE_MAX = 16 * 1024 };

struct login {
    const char *url;     /* NULL: no server was found */
    const char *token;   /* NULL: none */
    const char *dir;     /* directory of the `weir up` that the server belongs to, or NULL */
    const char *from;    /* the source of the address, for messages */
    const char *context; /* the name of the saved login that was used; NULL: none was */
    const char *ca;      /* path of the authority that the server must have; NULL: the system's */
    const char *fingerprint; /* of that authority, from the token; NULL: not known */
    bool saved;              /* the address comes from the saved login, which may change */
};

/* Finds the login. Without any login the result is ERR_OK and url is NULL. */
must_use enum err login_find(struct arena *arena, const char *server_flag, struct login *ret,
                             struct error *e);

/* ERR_USAGE: this is no address of a server. */
must_use enum err login_url_check(const char *url, struct error *e);

/* Makes a client. With a saved address the client reads the login again before each further try,
 * because a restarted `weir up --port 0` has another port. */
struct http_client *login_client(const struct login *login);

/* The login to save: the token itself, or the path of a file that has the token. */
struct login_entry {
    const char *url;
    const char *token;
    const char *token_file;
    const char *dir;
};

/* Replaces the login saved under this name (mode 0600, directories 0700). */
must_use enum err login_save(struct arena *arena, const char *name, const struct login_entry *entry,
                             struct error *e);

/* Reads the login saved under this name. Without one, url is NULL. */
void login_read(struct arena *arena, const char *name, struct login *ret);

/* Returns the directory of the saved logins: WEIR_CONFIG_HOME, or ~/.config/weir. */
const char *login_config_dir(struct arena *arena);

/* Returns the path of the current saved login. */
const char *login_path(struct arena *arena);

/* Returns the default data directory of `weir up`: /var/lib/weir for root, else
 * ~/.local/share/weir. */
const char *login_default_dir(struct arena *arena);

/* True when the URL names the loopback of this machine. */
bool login_is_local(const char *url);

/* Reads a small text file and trims it. ERR_NOT_FOUND or ERR_IO. */
must_use enum err login_file_read(struct arena *arena, const char *path, const char **ret,
                                  struct error *e);

/* Writes a whole file or nothing: to a temporary name, then renamed. */
must_use enum err login_file_write(struct arena *arena, const char *path, const char *text,
                                   unsigned mode, struct error *e);

/* Makes a directory and its parents. */
must_use enum err login_dirs_make(struct arena *arena, const char *path, unsigned mode,
                                  struct error *e);
