/* check.h - every invariant of the state, recomputed and compared.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

struct core;

/* Every invariant, by number; aborts on a breach. Between steps, not between the facts of one. */
void check(const struct core *core);
/* Those of them that hold after each fact, and for whatever state_decode() accepts. */
void check_rows(const struct core *core);

/* The parts of check_rows() for accounts, quotas and users, and for topology; they count what each order should hold. */
void check_account_all(const struct core *core, uint64_t *counts);
void check_topology(const struct core *core, uint64_t *counts);
