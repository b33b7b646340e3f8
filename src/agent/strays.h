/* strays.h - processes that a task left behind, found through /proc. Used where there are no
 * cgroups, and for the processes of a dead supervisor. The WEIR_ names in its environment say to
 * which attempt a process belongs. SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/model/ids.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Writes the children of this process's main thread to `out`, at most `max`, and returns how many.
 * Orphans become children of the main thread. */
size_t strays_children(pid_t *out, size_t max);

/* Which attempt does the process belong to? False: its environment does not say, or names another
 * supervisor. */
bool strays_owner(pid_t pid, const char *supervisor_hex, struct attempt_key *ret);

/* Has the process begun to end? Then its environment cannot be read any more. */
bool strays_dying(pid_t pid);

/* Sends SIGKILL to every process that names this supervisor. Returns how many processes there
 * were. */
size_t strays_end(const char *supervisor_hex);
