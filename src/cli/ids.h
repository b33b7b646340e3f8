/* ids.h - task ids on the command line: 12, 12.0, 12.0:2, or `-` for a list on standard input.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/doc.h"
#include "base/str.h"
#include "base/vec.h"
#include "cli/context.h"

enum { IDS_MAX = 1000000 };

struct ids {
    VEC(uint64_t) at;
};

struct attempt_name {
    uint64_t task;
    int64_t instance; /* -1: no instance was named */
    int64_t attempt;
};

/* Parses "12", "12.0" or "12.0:2". ERR_USAGE shows the right form. */
must_use enum err ids_name_parse(const char *text, struct attempt_name *ret, struct error *e);

/* Does the task of GET /tasks/{id} have this instance and attempt? ERR_NOT_FOUND says which it has. */
must_use enum err ids_name_check(const struct attempt_name *name, const struct doc *task,
                                 struct error *e);

/* Reads the arguments as task ids. `-` reads more ids from standard input, one or more per line.
 * ids_done() frees them, also after a failure. */
must_use enum err ids_read(const struct cli *cli, struct ids *ret, struct error *e);
void ids_done(struct ids *ids);
