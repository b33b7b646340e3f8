/* attempt_limit.h - the limits of an attempt: by its cgroup, else by rlimits; and what it used.
 * Private to the supervisor. SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "agent/supervisor_internal.h"

/* Takes a cgroup and sets the limits of the order. The attempt stays without a cgroup where the node
 * has none. */
void attempt_limit_begin(struct attempt *attempt, const struct start_order *order);

/* How a process of this attempt starts: its cgroup, or limits of each process. */
void attempt_limit_spawn(struct attempt *attempt, struct spawn_order *order);

/* The kernel refuses to start a process in the attempt's cgroup: the attempt goes on without. */
void attempt_limit_drop(struct attempt *attempt);

/* All processes have ended, and all output is taken: notes what they used, and whether they were over their memory; a
 * line of output says that they were over their disk. Gives the cgroup back. */
void attempt_limit_end(struct attempt *attempt);
