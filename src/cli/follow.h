/* follow.h - the output of a task, live: its standard output to standard output, its standard
 * error to standard error. A restart of the server loses and repeats no byte.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "cli/context.h"

struct follow_end {
    /* The task has ended; false: the log is over (not followed), or `stop` was set. */
    bool ended;
    char state[16]; /* "completed" … */
    int64_t code;   /* the exit code; -1: there is none */
    uint64_t after; /* the number of the last piece written; a later call may begin behind it */
};

struct follow_options {
    uint64_t task;
    const char *query;                /* "&instance=0", or "" */
    uint64_t after;                   /* only pieces with a higher number; 0: all */
    bool follow;                      /* go on until the task ends */
    bool json;                        /* print the lines as the API writes them */
    struct log_filter *filter;        /* NULL: the output is written as it is */
    const volatile int *stop;         /* following ends when *stop is not 0; may be NULL */
    void (*before_output)(void *ctx); /* called before each piece is written; may be NULL */
    void *ctx;
};

must_use enum err follow_run(struct cli *cli, const struct follow_options *options,
                             struct follow_end *ret, struct error *e);

/* Returns the exit status for an end: the code of the task, or 125 for a task that has no code
 * and did not complete. */
int follow_exit(const struct follow_end *end);
