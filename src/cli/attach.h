/* attach.h - this terminal, or this pipe, joined with a program inside a task.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "cli/context.h"

struct attach_options {
    uint64_t task;
    int64_t instance;  /* -1: the first one that runs */
    char *const *argv; /* NULL: attach to the terminal of a shell task */
    size_t argc;
    bool terminal;
};

struct attach_end {
    int code;      /* of the program; -1: it is not known */
    bool detached; /* the person left with "~." */
};

/* Blocks until the program ends, the person detaches, or the connection breaks (ERR_UNREACHABLE). */
must_use enum err attach_run(struct cli *cli, const struct attach_options *options,
                             struct attach_end *ret, struct error *e);
