/* task_run.h - submitting and awaiting the tasks that a person works in: shells, notebooks.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "cli/context.h"

struct task_run_kind {
    const char *kind;
    const char *name;        /* unless --name is given */
    const char *const *argv; /* when the command line has no command; NULL at the end */
    const char *const *env;  /* further "K=V", NULL at the end; NULL: none */
};

/* Submits one task with the flags of the command. With --dry-run nothing is submitted: what would become of the task is printed,
 * *ret_task is 0, and *ret_exit is the exit status. */
must_use enum err task_run_submit(struct cli *cli, const struct task_run_kind *kind,
                                  uint64_t *ret_task, int *ret_exit, struct error *e);

/* Waits until an instance of the task runs, and says meanwhile why it waits. ERR_CONFLICT: the task has
 * ended. */
must_use enum err task_run_wait(struct cli *cli, uint64_t task, struct error *e);
