/* dirs.h - the node's directory and its small files. SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/arena.h"
#include "base/fail.h"
#include "base/str.h"

/* D and its parents, 0711: its files are closed one by one, and tasks must reach D/job. */
must_use enum err dirs_make(const char *dir, struct error *e);

/* The exclusive lock D/NAME with our pid in it, held as long as *ret_fd is open. ERR_CONFLICT names
 * the holder. */
must_use enum err dirs_lock(const char *dir, const char *name, int *ret_fd, struct error *e);

/* The pid in D/NAME; 0: none. */
int dirs_lock_holder(const char *dir, const char *name);

/* A small text file without its last newline, in the arena. ERR_NOT_FOUND when it is not there. */
must_use enum err dirs_read(const char *dir, const char *name, struct arena *arena, struct str *ret,
                            struct error *e);

/* Written whole or not at all, mode 0600. */
must_use enum err dirs_write(const char *dir, const char *name, struct str text, struct error *e);

/* Standard error goes to D/supervisor.log from now on: holding the terminal or pipe of whoever
 * started us would keep that open for as long as tasks run. */
void dirs_log_to_file(const char *dir);
