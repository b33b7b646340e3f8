/* price.h - what a proposed command costs others: the running tasks that it would stop.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/arena.h"
#include "core/core.h"
#include "core/sched/explain/explain.h"

/* Returns the command with its price behind it, as a comment of the shell: "weir task edit 11
 * --priority 51  # would stop task 9 of ann, losing 2h10m". A command that stops nothing stays as it
 * is. `in` is the input that the command leads to; its actor is set here, and its time where that is before the time of the state. */
const char *price_tag(const struct core *core, const char *command, struct input *in,
                      struct arena *arena);

/* The same for a command that changes a waiting task so that the task starts. NULL: a trial of the command in a copy of the state
 * gives the task no place, so the command does not help. */
const char *price_tag_start(const struct core *core, const char *command, struct input *in,
                            struct arena *arena);

/* The same as price_tag() for a command that raises a bound of the explained account to `amount`. */
const char *price_tag_quota(const struct core *core, const char *command,
                            const struct explanation *why, bool limit, int64_t amount,
                            struct arena *arena);
