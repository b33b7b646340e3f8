/* preempt.h - a waiting task takes the places of less important ones of its own project; in a pool whose policy is priority, of
 * any project.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/sched/take/action.h"

/* For action.h. */
enum chunk_result preempt_try(struct action *action, const struct chunk *chunk);
