/* process.h - starts a process that ends with this one: the kernel kills it when the thread that started it ends.
 * So a program that a killed server had started cannot act beside the programs of the next server.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <sys/types.h>

/* A program with a path, or a name that is searched in PATH. */
struct process_order {
    char **argv; /* ends in NULL, as `env` does */
    char **env;
    int fds[3]; /* its standard streams; all are above 2 */
};

/* Starts the process in a process group of its own and in the directory `/`, with the usual signals and no other descriptor.
 * An errno value; 0: it runs. */
int process_start(const struct process_order *order, pid_t *ret_pid);
