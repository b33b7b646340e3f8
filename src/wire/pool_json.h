/* pool_json.h - pools as in docs/api/objects.md.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/arena.h"
#include "base/json_out.h"
#include "core/core.h"

/* Writes a pool. The pool's nodes are counted, so the cost grows with their number. */
void pool_json(struct json_out *j, const struct core *core, const struct pool *pool,
               struct arena *arena);
