/* box_keep.h - runs a task's program and stays beside it: for a task whose files go to buckets.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "agent/box.h"
#include "core/model/ids.h"

/* Brings the files, runs the program, sends the results. Returns what box_program() returns. */
int box_keep_run(struct box *box, const struct attempt_key *key, struct error *e);
