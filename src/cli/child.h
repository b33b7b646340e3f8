/* child.h - a role of this program as a child process. The child has its own process group, ends
 * with its parent, and tells when it is ready.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/arena.h"
#include "base/fail.h"

#include <stdbool.h>
#include <sys/types.h>

enum { CHILD_ARGS_MAX = 64, CHILD_LINE_MAX = 512 };

struct child {
    const char *role; /* "server" */
    pid_t pid;        /* 0: the child does not run */
    int pidfd;
    int ready;                 /* read end of the pipe; -1 once the child is ready */
    char line[CHILD_LINE_MAX]; /* the line that the child wrote when it was ready */
    size_t line_len;
};

/* The arguments of a child. */
struct child_args {
    const char *at[CHILD_ARGS_MAX];
    size_t count;
};
void child_arg(struct child_args *args, const char *word);

/* Starts /proc/self/exe with these arguments; `--ready-fd N` is added. */
must_use enum err child_start(struct child *child, const char *role, struct child_args *args,
                              struct arena *arena, struct error *e);

/* Reads the ready descriptor; true once the whole line is there. False also when the child
 * closed the descriptor without a line: then pidfd will report its end. */
bool child_ready_read(struct child *child);

/* Collects a child that has ended. `how` says how it ended: "exited with status 1", "was killed
 * by signal 9 (Killed)". False: the child still runs. */
bool child_ended(struct child *child, char *how, size_t size);

/* Sends SIGTERM, waits up to `wait_ms`, sends SIGKILL, and collects the child. */
void child_stop(struct child *child, int wait_ms);
