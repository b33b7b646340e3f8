/* problem.c - turns problems of a document into errors.
 * SPDX-License-Identifier: Apache-2.0 */
#include "spec/problem.h"

enum err problem_error(const struct problems *problems, struct error *e)
{
    if (problems->total == 0) {
        return ERR_OK;
    }
    const struct problem *first = &problems->at[0];
    return fail_at(e, ERR_INVALID, first->path, "%s%s%s", first->path,
                   first->path[0] != '\0' ? ": " : "", first->text);
}

enum err problem_file_error(const struct problems *problems, const char *file, struct error *e)
{
    if (problem_error(problems, e) == ERR_OK) {
        return ERR_OK;
    }
    return fail_in(e, "%s:%u:%u", file, problems->at[0].line, problems->at[0].column);
}

const char *problem_text(const struct problem *problem, struct arena *arena)
{
    return arena_fmt(arena, "%s%s%s", problem->path, problem->path[0] != '\0' ? ": " : "",
                     problem->text);
}
