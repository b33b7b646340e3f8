/* strays.h - processes a task left behind, found through /proc: where there are no cgroups, and for
 * what a dead supervisor left. Attributed by the WEIR_ names in their environment.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/model/ids.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* The children of this (single-threaded) process, at most `max`; how many. */
size_t strays_children(pid_t *out, size_t max);

/* Whose is it? False: it does not say, or names another supervisor. */
bool strays_owner(pid_t pid, const char *supervisor_hex, struct attempt_key *ret);

/* It has begun to end: no use looking into it. */
bool strays_dying(pid_t pid);

/* SIGKILL to every process that names this supervisor; how many there were. */
size_t strays_end(const char *supervisor_hex);
