/* lengths.h - run lengths learned from what has ended.
 *
 * Each end of a run counts in up to six groups, from "this user's tasks of this name and size" to "all". A task is expected to run
 * as long as the mean of the most specific group of which enough have ended; one with a time limit, for the part of its limit that
 * such a group uses. The groups are part of the state; memory is bounded, and groups not seen for long go.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/model/length.h"
#include "core/model/task.h"
#include "core/state/state.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    LENGTH_GROUPS_MAX = 20000,
    LENGTH_ENOUGH = 5,                  /* runs that make a group worth asking */
    LENGTH_COUNT_MAX = 2048,            /* then counts and sums are halved */
    LENGTH_SHARE_WHOLE = 1000,          /* of a time limit */
    LENGTH_UNKNOWN_MS = 60 * 60 * 1000, /* where nothing is known, for the order only */
};

/* One run of the task, which has just ended by itself or by its limit, took so long. */
void lengths_learn(struct core *core, const struct task *task, int64_t length_ms);

/* How long a run of the task will take: sets task->expect_ms and expect_from. Its account, user, shape and limit must be known. */
void lengths_expect(const struct core *core, struct task *task);

/* What two names that differ only in numbers have in common. */
uint64_t lengths_name_hash(const char *name);

/* Where a length stands among others: 16 bits, never 0, in steps of a thousandth. */
uint64_t lengths_step(int64_t length_ms);

/* A group read from bytes. False: there is one of this hash, or there are too many. */
bool lengths_put(struct core *core, const struct length_group *group);
