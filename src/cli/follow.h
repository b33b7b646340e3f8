/* follow.h - a task's output, live: standard output to standard output, errors to errors, resumed
 * after a restart of the server without losing or repeating a byte.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "cli/context.h"

struct follow_end {
    bool ended;     /* the task has; else the log (not followed) is over, or `stop` was set */
    char state[16]; /* "completed" … */
    int64_t code;   /* its exit code; -1: it has none */
    uint64_t after; /* the number of the last piece written: where a later call may go on */
};

struct follow_options {
    uint64_t task;
    const char *query;                /* "&instance=0", or "" */
    uint64_t after;                   /* only pieces behind this number; 0: all */
    bool follow;                      /* until the task ends */
    bool json;                        /* the lines as the API writes them */
    const volatile int *stop;         /* NULL, or non-zero ends it */
    void (*before_output)(void *ctx); /* NULL, or called before each piece is written */
    void *ctx;
};

must_use enum err follow_run(struct cli *cli, const struct follow_options *options,
                             struct follow_end *ret, struct error *e);

/* The exit status of a task that ended so: its own code; 125 where it has none and is no success. */
int follow_exit(const struct follow_end *end);
