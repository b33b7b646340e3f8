/* lengths.h - run lengths, learned from tasks that have ended.
 *
 * Each end of a run counts in up to six groups of tasks, from "tasks of this user, name and size" to "all
 * tasks". The expected length of a task is the mean of the most specific group in which enough runs have
 * ended. The expected length of a task with a time limit is the part of the limit that runs of the group used
 * on average. The groups are part of the state. The number of groups is bounded: the group that was not seen
 * for longest is dropped.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/model/length.h"
#include "core/model/task.h"
#include "core/state/state.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    LENGTH_GROUPS_MAX = 20000,
    LENGTH_ENOUGH = 5,                  /* a group with at least this many runs is used */
    LENGTH_COUNT_MAX = 2048,            /* at this count the counts and sums are halved */
    LENGTH_SHARE_WHOLE = 1000,          /* stands for a whole time limit in share_total */
    LENGTH_UNKNOWN_MS = 60 * 60 * 1000, /* for the order in the queue, where nothing is known */
};

/* Counts one run of the task that has just ended. */
void lengths_learn(struct core *core, const struct task *task, int64_t length_ms);

/* Sets task->expect_ms and expect_from. The task must have its account, user, shape and time limit. */
void lengths_expect(const struct core *core, struct task *task);

/* A hash of the name in which every sequence of digits counts as one digit. 0: the name is empty. */
uint64_t lengths_name_hash(const char *name);

/* A 16-bit number that grows with the length, never 0, in steps of about a thousandth. */
uint64_t lengths_step(int64_t length_ms);

/* Returns the step at which the class of the length ends. There are two classes between a power of
 * two and the next; the border is one and a half times the lower power. In the queue, learned
 * lengths of one class count as equal, because their differences are more often chance than not. */
uint64_t lengths_class(int64_t length_ms);

/* Adds a group that was read from bytes. False: a group of this hash exists, or there are too many groups. */
bool lengths_put(struct core *core, const struct length_group *group);
