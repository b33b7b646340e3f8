/* follow.h - the output of a task, live: its standard output to standard output, its standard
 * error to standard error. A restart of the server loses and repeats no byte.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "cli/context.h"
#include "cli/log_lines.h"

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
    struct log_filter *filter;        /* which lines are written; NULL: all */
    struct log_lines *lines;          /* how the output is written; set by follow_lines_init() */
    const volatile int *stop;         /* following ends when *stop is not 0; may be NULL */
    void (*before_output)(void *ctx); /* called before each piece is written; may be NULL */
    void *ctx;
};

/* Reads --no-prefix and --raw. `several`: the output of several instances is shown. */
void follow_lines_init(const struct cli *cli, bool several, struct log_lines *ret);

must_use enum err follow_run(struct cli *cli, const struct follow_options *options,
                             struct follow_end *ret, struct error *e);

/* Returns the exit status for an end: the code of the task. Of a task that has no code: 143 when the
 * task was killed before it started, 125 when it did not complete. */
int follow_exit(const struct follow_end *end);
