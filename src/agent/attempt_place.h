/* attempt_place.h - where and as whom an attempt runs: its job directory and its user. Private to the
 * supervisor. SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "agent/runas.h"
#include "base/arena.h"
#include "base/fail.h"

struct attempt;
struct start_order;

/* Takes the attempt's job directory and, where each task has a user of its own, its user. */
must_use enum err attempt_place_take(struct attempt *attempt, const struct start_order *order,
                                     struct error *e);
void attempt_place_give(struct attempt *attempt);

/* The account that runs the attempt: one for all tasks, or the task's own. Lives in the arena or in the
 * supervisor. */
const struct runas_account *attempt_place_account(const struct attempt *attempt,
                                                  struct arena *arena, const char *job_dir);
