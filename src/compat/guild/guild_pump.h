/* guild_pump.h - follows the process of a run: its output, its scalars, its end.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "compat/guild/guild_start.h"

#include <sys/types.h>

/* The process of a run, and the read ends of its two pipes. */
struct guild_process {
    pid_t pid;
    int pidfd;
    int streams[2];
    bool goes_on; /* another process has recorded the beginning of the output */
    bool records; /* false: Guild records the output, which is only passed on */
};

/* Waits for the end of the process, and records its output meanwhile. Returns the status as of
 * waitpid(), and leaves the process to be waited for. */
int guild_pump_run(const struct guild_run *run, struct guild_process *process, struct arena *arena);
