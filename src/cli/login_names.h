/* login_names.h - saved logins have names, called contexts. The context `default` is the file `login` of
 * the configuration directory, other contexts are files below `contexts`. The file `context` holds the
 * name of the current one.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/arena.h"
#include "base/fail.h"

#include <stdbool.h>
#include <stddef.h>

enum { LOGIN_NAMES_MAX = 1000 };

/* Returns the current context: WEIR_CONTEXT, else the one chosen by login_names_use(), else
 * `default`. */
const char *login_names_current(struct arena *arena);

/* Checks a name: 1 to 63 letters, digits, `-` and `_`. */
must_use enum err login_names_check(const char *name, struct error *e);

/* Returns the file of a context. */
const char *login_names_path(struct arena *arena, const char *name);

/* Makes this saved login the one that commands use. ERR_NOT_FOUND: no login is saved under the name. */
must_use enum err login_names_use(struct arena *arena, const char *name, struct error *e);

/* Returns the names of all saved logins in order, and their number. */
size_t login_names_all(struct arena *arena, const char ***ret);
