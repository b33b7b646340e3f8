/* state_file.h - a scenario from a server's state (`weir state export`, GET /api/v1/state).
 *
 * Pools, accounts, quotas and nodes are taken over. Running tasks keep their nodes, and other
 * tasks wait in their order. The length of a task is its time limit, else the length given on
 * the command line, less the time that it has already run.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/fail.h"
#include "base/str.h"
#include "sim/scenario.h"

must_use enum err state_file_read(struct str text, const char *file, int64_t runs_ms,
                                  struct scenario *scenario, struct error *e);
