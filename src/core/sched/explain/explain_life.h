/* explain_life.h - tasks of a pool that is closed or deleted.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/model/pool.h"
#include "core/model/reason.h"

#include <stdbool.h>

/* Does the pool start no task because a user closed or deleted it? Then `ret` says so. */
bool explain_life(const struct pool *pool, struct reason *ret);
