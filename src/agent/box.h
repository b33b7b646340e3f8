/* box.h - `weir box`: the small program that starts a task which is more than a plain process: one with an
 * upload, in a container, with /job, or with files of buckets. The supervisor runs it in place of the task's program.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "agent/box_files.h"

enum { BOX_EXIT_FAILED = 125, BOX_EXIT_NOT_EXECUTED = 126, BOX_EXIT_NOT_FOUND = 127 };

/* argv: "box", the node's directory, the attempt; or "box", "enter" and what box_confine_enter() says. */
int box_main(int argc, char **argv);

/* Where the task sees its directories (box_view.h). Each may be "". */
struct box_view {
    const char *job;
    const char *pool;
    const char *buckets;
};

/* One attempt on its way. */
struct box {
    struct arena arena;
    const char *dir;
    const char *name; /* of the attempt */
    struct box_order order;
    struct box_start start;
    struct box_site site;
    struct box_view view;
};

/* Runs the program, or the container with it, in the place of this process. Returns an exit code of Weir's own with the
 * reason in *e, or -1 - the exit code of a container. */
int box_program(struct box *box, struct error *e);

/* The exit code for an end as waitpid() tells it: 128 + n for signal n. */
int box_code_of(int status);

/* Ignores the signals that a task is asked to end with: the program gets them too, because all are of one process group. */
void box_signals_leave(void);

/* Becomes the task's user, for good. Does nothing where the node does not run as root. */
must_use enum err box_become_user(const struct box_start *start, struct error *e);

/* Runs a helper program with a clean environment and waits for it. Its error output goes to the task's.
 * ERR_IO: it failed. `input` and `output` may be -1. */
must_use enum err box_run(const char *const *argv, int output, struct error *e);
