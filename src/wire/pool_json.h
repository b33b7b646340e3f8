/* pool_json.h - pools as docs/api/objects.md has them.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/arena.h"
#include "base/json_out.h"
#include "core/core.h"

/* Counts the pool's nodes: cost grows with them. */
void pool_json(struct json_out *j, const struct core *core, const struct pool *pool,
               struct arena *arena);
