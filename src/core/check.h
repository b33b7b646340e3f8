/* check.h - checks every invariant of the state.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

struct core;

/* Checks all invariants and aborts on a breach. Call it between steps, not between the facts of one step. */
void check(const struct core *core);
/* Checks the invariants that hold after each fact, and for every state that state_decode() accepts. */
void check_rows(const struct core *core);

/* The parts of check_rows() for accounts, quotas and users, for topology, for the pools of nodes, for launches, for tasks with several pools, for flavors, for the life of pools, and for rollouts. Each adds to `counts`
 * the number of keys that each order should have. */
void check_account_all(const struct core *core, uint64_t *counts);
void check_topology(const struct core *core, uint64_t *counts);
void check_membership(const struct core *core, uint64_t *counts);
void check_launch(const struct core *core, uint64_t *counts);
void check_fallback(const struct core *core, uint64_t *counts);
void check_flavor(const struct core *core, uint64_t *counts);
void check_life(const struct core *core, uint64_t *counts);
void check_rollout(const struct core *core, uint64_t *counts);
