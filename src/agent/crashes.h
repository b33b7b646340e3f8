/* crashes.h - what a node remembers of supervisors that died under their tasks, in D/crashes. A
 * task can kill its supervisor, and the agent and the server with it (`kill -9 -1` as the same
 * user). So after CRASHES_MAX such deaths within CRASH_WINDOW_MS the node takes no tasks for
 * CRASH_REST_MS: long enough for a person to find the task and kill it.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "agent/limits.h"

#include <stdint.h>

enum {
    CRASHES_MAX = 3,
    CRASH_WINDOW_MS = 10 * 60 * 1000,
    CRASH_REST_MS = 60 * 1000,
    CRASH_TASKS_MAX = 8, /* tasks named of one death */
};

/* A supervisor died at `now_ms` (wall clock). Reads from the spool which attempts ran then, logs
 * them and adds a line to D/crashes. Does nothing where no attempt was open: such a supervisor
 * ended in order. Call before the next supervisor begins. */
void crashes_note(const char *dir, int64_t now_ms);

/* How long the node must rest, in ms; 0: it need not. `why` gets the reason for people, with the
 * tasks that were present, and has `size` bytes. */
int64_t crashes_rest_ms(const char *dir, int64_t now_ms, char *why, size_t size);
