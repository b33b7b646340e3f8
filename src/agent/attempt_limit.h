/* attempt_limit.h - the limits of an attempt: by its cgroup, else by rlimits; and what it used.
 * Private to the supervisor. SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "agent/supervisor_internal.h"

/* Takes a cgroup and sets the limits of the order. The attempt stays without a cgroup where the node
 * has none. */
void attempt_limit_begin(struct attempt *attempt, const struct start_order *order);

/* Sets how the next process of this attempt starts: in the attempt's cgroup, or, without a cgroup,
 * with limits of its own. */
void attempt_limit_spawn(struct attempt *attempt, struct spawn_order *order);

/* The kernel refuses to start a process in the attempt's cgroup: the attempt goes on without. */
void attempt_limit_drop(struct attempt *attempt);

/* Notes what the attempt used, and whether the kernel ended it for its use of memory. Adds a line
 * of output if the attempt was killed for its use of disk. Gives the cgroup back. Call when all
 * processes of the attempt have ended and all their output is taken. */
void attempt_limit_end(struct attempt *attempt);
