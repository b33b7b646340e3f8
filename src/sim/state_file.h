/* state_file.h - a scenario out of a server's state (`weir state export`, GET /api/v1/state).
 *
 * Pools, accounts, quotas and nodes are as they were; tasks that ran start first, the others wait in
 * their order. Where they run is decided anew. How long a task will run nobody knows: its time limit,
 * else the length given, less what it has run. SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/fail.h"
#include "base/str.h"
#include "sim/scenario.h"

must_use enum err state_file_read(struct str text, const char *file, int64_t runs_ms,
                                  struct scenario *scenario, struct error *e);
