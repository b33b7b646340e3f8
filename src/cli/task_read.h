/* task_read.h - reads the files of tasks that commands take with -f. SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/doc.h"
#include "cli/context.h"

/* Reads and checks a file of tasks, "-" is standard input. *ret: one task or a list, of *ret_count tasks in all. The problems of the file
 * are shown and added to *problems; then *ret is NULL. */
must_use enum err task_read(struct cli *cli, const char *name, const struct doc **ret,
                            uint32_t *ret_count, size_t *problems, struct error *e);
