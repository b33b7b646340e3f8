/* programs.h - runs programs for providers. Nothing blocks; time, output and number of programs are bounded.
 *
 *   programs_run() ─▶ queue ─▶ process, in a process group of its own ─▶ done()
 *
 * There is no shell. A program sees the variables that it is given, its standard input and two pipes, and nothing else
 * of this process. When the program has ended or its time is up, what is left of its process group is killed. A program
 * is killed when this process is.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/fail.h"
#include "base/str.h"
#include "io/loop.h"

#include <stdbool.h>

enum {
    PROGRAMS_AT_ONCE = 8,
    PROGRAMS_QUEUE_MAX =
        400000, /* never reached: one call for each launch, and a list for each pool */
    PROGRAM_OUT_MAX = 4 << 20,
    PROGRAM_INPUT_MAX = 64 << 10,
    PROGRAM_WORDS_MAX = 64, /* of the command line */
    PROGRAM_TEXT_MAX = 256,
};

struct programs;

/* What became of a program. All texts are borrowed for the call. */
struct programs_result {
    struct str out; /* what the program has written to its standard output */
    /* why the run is no success: "the program ended with exit code 3: no such zone"; "": exit code 0 */
    const char *problem;
};

/* One program to run. Everything is copied. */
struct programs_order {
    const char *const *argv; /* argv[0]: a path, or a name that is searched in PATH; ends in NULL */
    struct str input;        /* for the standard input of the program */
    int64_t timeout_ms;
    bool
        own_only; /* argv[0] is a path, and only root and the user of this process may write the file */
    const void *owner; /* for programs_cancel() */
    void (*done)(void *ctx, const struct programs_result *result);
    void *ctx;
};

struct programs *programs_new(struct loop *loop);

/* Kills the programs that run. done() is not called for them nor for programs in the queue. NULL is allowed. */
void programs_free(struct programs *programs);

/* Runs a program when its turn comes. done() is called once, never inside this call. */
void programs_run(struct programs *programs, const struct programs_order *order);

/* Kills the programs of an owner, and forgets those in the queue. done() is not called for them. */
void programs_cancel(struct programs *programs, const void *owner);

/* Programs that run or wait. */
size_t programs_count(const struct programs *programs);
