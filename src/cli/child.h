/* child.h - a role of this program as a child process: own process group, ended with its parent,
 * tells when it is ready. SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/arena.h"
#include "base/fail.h"

#include <stdbool.h>
#include <sys/types.h>

enum { CHILD_ARGS_MAX = 64, CHILD_LINE_MAX = 512 };

struct child {
    const char *role; /* "server" */
    pid_t pid;        /* 0: not running */
    int pidfd;
    int ready;                 /* read end; -1 once it is ready */
    char line[CHILD_LINE_MAX]; /* what it said when it became ready */
    size_t line_len;
};

/* Arguments collected for a child. */
struct child_args {
    const char *at[CHILD_ARGS_MAX];
    size_t count;
};
void child_arg(struct child_args *args, const char *word);

/* Starts /proc/self/exe with these arguments; `--ready-fd N` is added. */
must_use enum err child_start(struct child *child, const char *role, struct child_args *args,
                              struct arena *arena, struct error *e);

/* Reads what there is on the ready descriptor; true once the whole line is there. False also when
 * the child closed it without a word: its end will be seen on pidfd. */
bool child_ready_read(struct child *child);

/* Collects an ended child; how it ended goes to `how` ("exited with status 1", "was killed by
 * signal 9 (Killed)"). False while it runs. */
bool child_ended(struct child *child, char *how, size_t size);

/* SIGTERM, up to `wait_ms` of patience, SIGKILL, and collects it. */
void child_stop(struct child *child, int wait_ms);
