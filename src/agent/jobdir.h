/* jobdir.h - job directories D/job/TASK/INSTANCE, out of a pool of ready ones by rename.
 *
 *   job/.ready/17/0  ──rename──▶  job/TASK/INSTANCE     (the task's user's, 0700)
 *                    ◀─rename──   when the task left nothing in it
 *
 * What a task wrote stays: a later attempt of the same instance finds it, and nobody removes it
 * here. SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "agent/runas.h"
#include "base/fail.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

struct jobdirs;

/* Makes D/job and JOBDIR_READY ready directories owned by the account. */
must_use enum err jobdir_new(const char *dir, const struct runas_account *account,
                             struct jobdirs **ret, struct error *e);
void jobdir_free(struct jobdirs *dirs);

/* D/job/TASK/INSTANCE exists and belongs to the task's user. */
must_use enum err jobdir_take(struct jobdirs *dirs, uint64_t task, uint64_t instance,
                              struct error *e);

/* The instance is over: back into the pool when empty, else it stays. */
void jobdir_give(struct jobdirs *dirs, uint64_t task, uint64_t instance);

/* Makes one ready directory if some are missing; true when more are. Called when there is time. */
bool jobdir_refill(struct jobdirs *dirs);

/* How many are ready. */
size_t jobdir_ready(const struct jobdirs *dirs);

/* What is there under this name in the instance's directory, links not followed; false: nothing. */
bool jobdir_stat(const struct jobdirs *dirs, uint64_t task, uint64_t instance, const char *name,
                 struct stat *ret);

/* The path; `out` has AGENT_PATH_MAX. */
void jobdir_path(const struct jobdirs *dirs, uint64_t task, uint64_t instance, char *out);
