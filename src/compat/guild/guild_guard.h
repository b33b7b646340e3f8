/* guild_guard.h - a second process beside the starter of a run. When the starter is killed, the guard inherits the run's process and
 * records it to the end.
 *
 *   command ─▶ guard ─▶ starter ─▶ the run's own command         the guard also holds the read ends of the run's pipes
 *
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "compat/guild/guild_start.h"

/* The pipes of a run: streams[0] is standard output, streams[1] is standard error; [0] is the read end. */
typedef struct guild_told (*guild_starter_fn)(const struct guild_run *run,
                                              const struct guild_start *start, int streams[2][2],
                                              struct arena *arena);

/* Lets `starter` work in a child process, and takes over what the starter leaves when it is killed. `records`: the starter records the
 * output itself, not Guild. Returns the last thing told. */
struct guild_told guild_guard_run(const struct guild_run *run, const struct guild_start *start,
                                  guild_starter_fn starter, bool records, struct arena *arena);
