/* dirs.h - the node's directory and its small files. SPDX-License-Identifier: Apache-2.0 */
#pragma once

#define SUPERVISOR_LOCK "supervisor.lock"
#define SUPERVISOR_LOG "supervisor.log"

#include "base/arena.h"
#include "base/fail.h"
#include "base/str.h"

/* Makes D and its parents with mode 0711, because tasks must reach D/job. Each private file in D
 * has a closed mode of its own. */
must_use enum err dirs_make(const char *dir, struct error *e);

/* Takes the exclusive lock D/NAME and writes our pid into the file. The lock is held as long as
 * *ret_fd is open. ERR_CONFLICT names the holder. */
must_use enum err dirs_lock(const char *dir, const char *name, int *ret_fd, struct error *e);

/* The pid that stands in D/NAME; 0: none. */
int dirs_lock_holder(const char *dir, const char *name);

/* Reads a small text file into the arena, without its last newline. ERR_NOT_FOUND: no such file. */
must_use enum err dirs_read(const char *dir, const char *name, struct arena *arena, struct str *ret,
                            struct error *e);

/* Writes the file whole or not at all, with mode 0600. */
must_use enum err dirs_write(const char *dir, const char *name, struct str text, struct error *e);

/* Sends standard error to D/supervisor.log from now on. A supervisor that held the terminal or pipe
 * of its parent would keep the terminal or pipe open for as long as tasks run. */
void dirs_log_to_file(const char *dir);

/* Does the name in the directory still lead to the open file? */
bool dirs_still_there(const char *dir, const char *name, int fd);

/* Takes a lock of ours anew where its file is gone, and writes our pid again where it is cut.
 * ERR_CONFLICT: another process has the lock by now. */
must_use enum err dirs_lock_hold(const char *dir, const char *name, int *fd, struct error *e);
