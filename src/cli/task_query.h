/* task_query.h - the filters of `weir task list`, as the API takes them and as a person reads them.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "cli/context.h"

/* The names that GET /tasks filters by, each followed by a space. */
extern const char task_query_filters[];

/* Writes the path of GET /tasks with the filters that the flags name. */
must_use enum err task_query_path(struct cli *cli, const char **ret_path, struct error *e);

/* Appends "&NAME=TIME" to the query where the flag --NAME is given: --since, --until. */
must_use enum err task_query_moment(struct cli *cli, const char *name, const char **query,
                                    struct error *e);

/* Says that no task matches the filters. Without filters: how to run the first task. */
void task_query_empty(struct cli *cli);
