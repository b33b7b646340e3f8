/* guild_home.h - the Guild home: where it is, its runs, and the lock that Guild's queues take.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/arena.h"
#include "base/fail.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { GUILD_RUNS_MAX = 1000000, GUILD_LOCK_WAIT_MS = 30000, GUILD_ID_MAX = 255 };

/* Finds the home as Guild does: `named`, $GUILD_HOME, .guild of the active environment, the nearest .guild from here upwards, ~/.guild.
 * ERR_NOT_FOUND: the named directory does not exist. */
must_use enum err guild_home_find(const char *named, struct arena *arena, const char **ret,
                                  struct error *e);

/* True when `id` can be the name of a run's directory. */
bool guild_home_id_ok(const char *id);

const char *guild_home_run_dir(struct arena *arena, const char *home, const char *id);

enum guild_status {
    GUILD_ERROR,
    GUILD_STAGED,
    GUILD_PENDING,
    GUILD_RUNNING,
    GUILD_COMPLETED,
    GUILD_TERMINATED,
};

/* The status of a run, as Guild computes it from the files in the run's directory. */
enum guild_status guild_home_status(struct arena *arena, const char *run_dir);

/* True when the directory is a run: it may have been deleted meanwhile. */
bool guild_home_is_run(struct arena *arena, const char *run_dir);

/* The ids of all runs with a status of the set (bits 1 << enum guild_status), in order of their names. A home without runs has none. */
struct guild_ids {
    const char **at;
    size_t count;
};
must_use enum err guild_home_runs(const char *home, unsigned statuses, struct arena *arena,
                                  struct guild_ids *ret, struct error *e);

/* Takes the lock under which runs are taken: exclusive, tried every 5 ms. ERR_TIMEOUT: another process held the lock for GUILD_LOCK_WAIT_MS.
 * The descriptor is closed at exec; guild_home_unlock() gives the lock back. */
must_use enum err guild_home_lock(struct arena *arena, const char *home, int *ret_fd,
                                  struct error *e);
void guild_home_unlock(int fd);
