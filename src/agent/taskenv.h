/* taskenv.h - a task's environment, built from nothing, and where its program is looked for.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "agent/frame.h"
#include "agent/runas.h"
#include "base/arena.h"

#define TASKENV_PATH_DEFAULT "/usr/local/bin:/usr/bin:/bin"
#define CHECKPOINT_FILE "checkpoint" /* in the job directory */

struct taskenv_input {
    const struct start_order *order;
    const struct runas_account *account;
    const char *supervisor; /* its id in hex */
    const char *job_dir;
};

/* "K=V" texts, NULL at the end: defaults, then the task's own, then Weir's, the later of one name
 * replacing the earlier. In the arena. */
char **taskenv_build(struct arena *arena, const struct taskenv_input *input);

/* The value of a name in such a list, or NULL. */
const char *taskenv_get(char *const *env, const char *name);

/* The paths at which to try `program`, in order, NULL at the end: itself when it has a slash, else
 * below each directory of `path` that is absolute. In the arena. */
const char **taskenv_candidates(struct arena *arena, const char *program, const char *path);
