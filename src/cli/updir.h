/* updir.h - the data directory of a `weir up`: which process holds it, and where its server
 * listens.
 *
 *   up.lock  locked by the running `weir up`; the kernel frees the lock when the process ends
 *   up.pid   `pid: N`, `url: http://…`, `server: N`, `agent: N`; true only while the lock is
 *   held
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/arena.h"
#include "base/fail.h"

#include <stdbool.h>
#include <sys/types.h>

struct updir_info {
    pid_t holder; /* process id of the running `weir up`; 0: none runs */
    const char *url;
    pid_t server;
    pid_t agent;
};

/* Reads what is known of the directory; false: no `weir up` was ever there. */
bool updir_read(struct arena *arena, const char *dir, struct updir_info *ret);

/* Takes the lock until this process ends. ERR_CONFLICT names the process that holds the lock. */
must_use enum err updir_lock(struct arena *arena, const char *dir, struct error *e);

/* Writes up.pid. */
must_use enum err updir_write(struct arena *arena, const char *dir, const struct updir_info *info,
                              struct error *e);
