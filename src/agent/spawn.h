/* spawn.h - starts one program without fork: the child borrows the caller's memory until the child
 * has executed the program. SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "agent/cgroup.h"
#include "agent/runas.h"

#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

/* Limits of each process by itself, where no cgroup holds the task. 0: none. */
struct spawn_limits {
    uint64_t data_bytes;
    uint64_t processes; /* of the task's user */
};

struct spawn_order {
    const char **candidates; /* paths to try in order, NULL at the end */
    /* The program's own arguments begin at argv[1]; argv[0] is room for the shell of a script
     * without an interpreter line. */
    char **argv;
    char **env;
    const char *job_dir;
    const char *workdir; /* "": stay in the job directory */
    const struct runas_account *account;
    const struct rlimit *files; /* the open-files limit of tasks */
    int null_fd;
    int out_fd;
    int err_fd;
    struct cgroup_entry entry; /* the cgroup that the program enters; cgroup_fd -1: none */
    int net_fd;                /* the network that the program enters; -1: the node's own */
    const cpu_set_t *cpus;     /* the hardware threads that it may use; NULL: all */
    struct spawn_limits limits;
};

struct spawn_result {
    pid_t pid;         /* 0: the program did not start */
    bool workdir_used; /* false: the task's user cannot enter `workdir` */
    int error_number;
    bool no_process;  /* the kernel could not even make a process */
    bool no_cgroup;   /* the process could not enter its cgroup */
    bool no_job_dir;  /* the process could not enter its job directory, which is the node's */
    const char *step; /* the step that failed: "execute", "change user" … */
};

/* The memory for the child's stack, and low descriptors for the child's streams. A start uses both
 * until the child has executed the program, so each thread that starts programs needs a spawn_stack
 * of its own. */
struct spawn_stack;
struct spawn_stack *spawn_stack_new(void);
void spawn_stack_free(struct spawn_stack *stack);

/* Starts the program in its own process group, as the account. Only standard input (the null
 * device), output and error are open. `*ret_pid` is set before the child can end, for a reaper on
 * another thread. */
struct spawn_result spawn_start(const struct spawn_order *order, struct spawn_stack *stack,
                                pid_t *ret_pid);

/* Call once, before anything else. Sets default signals, umask, no core files, no new privileges,
 * and makes this process the parent of orphans. Closes all descriptors but the standard streams and
 * `keep_fd` (-1: none). */
void spawn_prepare(int keep_fd);
