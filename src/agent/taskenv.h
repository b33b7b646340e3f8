/* taskenv.h - builds a task's environment from nothing, and lists where to look for its program.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "agent/frame.h"
#include "agent/runas.h"
#include "base/arena.h"

#define TASKENV_PATH_DEFAULT "/usr/local/bin:/usr/bin:/bin"
#define CHECKPOINT_FILE "checkpoint" /* a file in the job directory */

struct taskenv_input {
    const struct start_order *order;
    const struct runas_account *account;
    const char *supervisor; /* the supervisor's id in hex */
    const char *job_dir;
    uint16_t port; /* WEIR_PORT; 0: none */
};

/* A list of "K=V" texts, NULL at the end, in the arena. A later entry replaces an earlier entry of
 * the same name: first defaults, then the task's own variables, then Weir's variables. */
char **taskenv_build(struct arena *arena, const struct taskenv_input *input);

/* The value of a name in a list that taskenv_build() made, or NULL. */
const char *taskenv_get(char *const *env, const char *name);

/* The paths at which to try `program`, in order, NULL at the end, in the arena. A program with a
 * slash is its own path; else the paths lie below each absolute directory of `path`. */
const char **taskenv_candidates(struct arena *arena, const char *program, const char *path);
