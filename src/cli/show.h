/* show.h - one object for people: a line a field, or its JSON as the API gave it.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "cli/api.h"
#include "cli/list.h"

/* Prints the fields of `doc` that have a value; columns as in a list. */
void show_fields(const struct cli *cli, const struct list_column *fields, const struct doc *doc);

/* Prints the answer as JSON when --json was asked for; false: it was not. */
bool show_json(const struct cli *cli, const struct api_reply *reply);

/* GET and show; `after` (may be NULL) adds what does not fit a line. --watch shows it again at each
 * change. */
typedef void (*show_fn)(const struct cli *cli, const struct doc *doc);
int show_run(struct cli *cli, const char *path, const char *events,
             const struct list_column *fields, show_fn after);
