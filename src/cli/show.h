/* show.h - shows one object: a line for each field, or the JSON of the API.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "cli/api.h"
#include "cli/list.h"

/* Prints the fields of `doc` that have a value. The fields are described like the columns of a
 * list. */
void show_fields(const struct cli *cli, const struct list_column *fields, const struct doc *doc);

/* With --json prints the answer as JSON and returns true. */
bool show_json(const struct cli *cli, const struct api_reply *reply);

/* Fetches an object and shows it. `after` (may be NULL) prints what does not fit into a line.
 * With --watch shows the object again after each change. */
typedef void (*show_fn)(const struct cli *cli, const struct doc *doc);
int show_run(struct cli *cli, const char *path, const char *events,
             const struct list_column *fields, show_fn after);
