/* reclaim.h - a waiting task takes from other accounts what its own account has a right to.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/sched/take/action.h"

/* One of the three actions of action.h. CHUNK_FAILED: the account has no right to the chunk, or no victims make room; the trial is
 * as it was. */
enum chunk_result reclaim_try(struct action *action, const struct chunk *chunk);
