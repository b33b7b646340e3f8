/* problem.h - what is wrong with a document: each with its path, line and column. A reader goes on
 * after a problem, so that a person sees all of them at once.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/arena.h"
#include "base/doc.h"
#include "base/fail.h"

enum { PROBLEMS_MAX = 50 };

struct problem {
    unsigned line; /* 0: unknown */
    unsigned column;
    const char *path; /* "pools[2].name", "" for the whole */
    const char *text; /* without the path */
};

/* Texts live in the arena that the reading function was given. */
struct problems {
    uint32_t count; /* of at[]; more than PROBLEMS_MAX are only counted in `total` */
    uint32_t total;
    struct problem at[PROBLEMS_MAX];
};

/* The first problem as an error, "path: text" and its path; ERR_OK when there is none. */
must_use enum err problem_error(const struct problems *problems, struct error *e);

/* The same for a file: "task.yaml:4:12: path: text". */
must_use enum err problem_file_error(const struct problems *problems, const char *file,
                                     struct error *e);

/* "path: text" of one problem, in the arena. */
const char *problem_text(const struct problem *problem, struct arena *arena);
