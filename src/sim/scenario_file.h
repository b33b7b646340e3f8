/* scenario_file.h - scenario files (docs/dev/formats/scenario-file.md).
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/fail.h"
#include "base/str.h"
#include "sim/scenario.h"

/* Reads YAML or JSON into an initialised scenario. `file` is its name, for errors and for paths
 * relative to it. ERR_INVALID: "file:line:column: path: what is wrong". `seed` overrides the file's
 * where it is not NULL: generators draw from it. The caller sorts (scenario_sort). */
must_use enum err scenario_file_read(struct str text, const char *file, const uint64_t *seed,
                                     struct scenario *scenario, struct error *e);
