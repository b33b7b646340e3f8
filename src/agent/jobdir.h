/* jobdir.h - job directories D/job/TASK/INSTANCE. A job directory comes out of a pool of ready
 * directories by a rename.
 *
 *   job/.ready/17/0  ──rename──▶  job/TASK/INSTANCE     (owned by the task's account, mode 0700)
 *                    ◀─rename──   when the task left no file in it
 *
 * Files that a task wrote stay: a later attempt of the same instance finds them. They are removed only
 * where the site says after what time (jobdir_sweep()).
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "agent/runas.h"
#include "base/fail.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

struct jobdirs;

/* Makes D/job and JOBDIR_READY ready directories that the account owns. */
must_use enum err jobdir_new(const char *dir, const struct runas_account *account,
                             struct jobdirs **ret, struct error *e);
void jobdir_free(struct jobdirs *dirs);

/* Makes D/job/TASK/INSTANCE, owned by the account that runs tasks. */
must_use enum err jobdir_take(struct jobdirs *dirs, uint64_t task, uint64_t instance,
                              struct error *e);

/* Gives the instance's directory, as jobdir_take() made it, to another user. jobdir_give() takes it
 * back. */
must_use enum err jobdir_own(struct jobdirs *dirs, uint64_t task, uint64_t instance, uid_t uid,
                             gid_t gid, struct error *e);

/* The instance has ended: its directory returns to the pool when empty, else it stays. */
void jobdir_give(struct jobdirs *dirs, uint64_t task, uint64_t instance);

/* Makes one ready directory if the pool is short. True: more are missing. Call at the end of a loop
 * turn. */
bool jobdir_refill(struct jobdirs *dirs);

/* Makes D/job anew where it is gone. ERR_IO: no job directory can be made. */
must_use enum err jobdir_hold(struct jobdirs *dirs, struct error *e);

/* Moves directories of tasks that have ended, and that nobody has touched since `before_s` (wall clock), to
 * D/job/.gone. Looks at a bounded number of directories a call, and goes on where it stopped. */
void jobdir_sweep(struct jobdirs *dirs, int64_t before_s);

/* How many directories are ready. */
size_t jobdir_ready(const struct jobdirs *dirs);

/* Stats the file of this name in the instance's directory, without following links. False: there is
 * no such file. */
bool jobdir_stat(const struct jobdirs *dirs, uint64_t task, uint64_t instance, const char *name,
                 struct stat *ret);

/* Writes the path of the instance's directory to `out`, which has AGENT_PATH_MAX bytes. */
void jobdir_path(const struct jobdirs *dirs, uint64_t task, uint64_t instance, char *out);
