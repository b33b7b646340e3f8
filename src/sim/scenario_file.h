/* scenario_file.h - scenario files (docs/dev/formats/scenario-file.md).
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/fail.h"
#include "base/str.h"
#include "sim/scenario.h"

/* Reads YAML or JSON into an initialised scenario. `file` is the name for errors and for
 * relative paths. A `seed` that is not NULL overrides the seed of the file. The caller calls
 * scenario_sort(). ERR_INVALID: "file:line:column: path: problem" is the first problem, and
 * `scenario->report` has all of them. */
must_use enum err scenario_file_read(struct str text, const char *file, const uint64_t *seed,
                                     struct scenario *scenario, struct error *e);
