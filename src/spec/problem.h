/* problem.h - the problems of a document, each with path, line and column. A reader goes on
 * after a problem, so that a person sees all problems at once.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/arena.h"
#include "base/doc.h"
#include "base/fail.h"
#include "base/str.h"

enum { PROBLEMS_MAX = 50 };

struct problem {
    unsigned line; /* 0: unknown */
    unsigned column;
    const char *path; /* "pools[2].name"; "" for the whole document */
    const char *text; /* without the path */
};

/* Texts live in the arena that the reading function was given. */
struct problems {
    uint32_t count; /* entries of at[]; problems beyond PROBLEMS_MAX are counted in `total` only */
    uint32_t total;
    struct problem at[PROBLEMS_MAX];
};

/* Turns the first problem into an error with "path: text" and the path; ERR_OK: there is none. */
must_use enum err problem_error(const struct problems *problems, struct error *e);

/* Notes the error of a document's reader as the only problem of the document. */
void problem_syntax(struct problems *problems, struct arena *arena, const struct error *e);

/* Turns the first problem of a file into an error: "task.yaml:4:12: path: text". */
must_use enum err problem_file_error(const struct problems *problems, const char *file,
                                     struct error *e);

/* Writes one problem as "path: text" into the arena. */
const char *problem_text(const struct problem *problem, struct arena *arena);

/* Writes every problem of a file for a terminal: "task.yaml:4:12: path: text", then the line of
 * the file with a caret below the place. `text` is the file. The result lives in the arena. */
const char *problem_report(const struct problems *problems, const char *file, struct str text,
                           struct arena *arena);

/* Fails with "3 problems in task.yaml", for a caller that has shown the report. */
enum err problem_count_error(const struct problems *problems, const char *file, struct error *e);
