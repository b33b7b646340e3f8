/* consolidate.h - running tasks move together so that a waiting one fits into what is free in pieces.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/sched/take/action.h"

/* For action.h. */
enum chunk_result consolidate_try(struct action *action, const struct chunk *chunk);
