/* spawn.h - starts one program without fork: the child borrows the caller's memory until it has
 * executed the program. SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "agent/runas.h"

#include <stdbool.h>
#include <sys/resource.h>
#include <sys/types.h>

struct spawn_order {
    const char **candidates; /* paths tried in order, NULL at the end */
    char **argv;             /* argv[0] is room for the shell of a script without one; the
                                program's own begins at argv[1] */
    char **env;
    const char *job_dir;
    const char *workdir; /* "": stay in the job directory */
    const struct runas_account *account;
    const struct rlimit *files; /* the open-files limit tasks get */
    int null_fd;
    int out_fd;
    int err_fd;
    int cgroup_fd; /* -1: none */
};

struct spawn_result {
    pid_t pid;         /* 0: not started */
    bool workdir_used; /* false: the task's user cannot enter the one asked for */
    int error_number;
    bool no_process;  /* not even that could be made */
    const char *step; /* what failed: "execute", "change user" … */
};

/* What the child runs on until it has executed the program; one for each thread that starts. */
struct spawn_stack;
struct spawn_stack *spawn_stack_new(void);
void spawn_stack_free(struct spawn_stack *stack);

/* In its own process group, as the account, with nothing open but standard input (the null device),
 * output and error. */
/* `*ret_pid` is set before the child can end, for whoever reaps on another thread. */
struct spawn_result spawn_start(const struct spawn_order *order, struct spawn_stack *stack,
                                pid_t *ret_pid);

/* Once, before anything else: default signals, umask, no core files, no new privileges, orphans come
 * to us, and everything inherited is closed but the standard streams and `keep_fd` (-1: none). */
void spawn_prepare(int keep_fd);
