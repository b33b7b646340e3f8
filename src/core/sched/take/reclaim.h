/* reclaim.h - a waiting task gets back, from other accounts, what its own has a right to.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/sched/take/action.h"

/* For action.h. */
enum chunk_result reclaim_try(struct action *action, const struct chunk *chunk);
