/* flavor_json.h - flavors, what is sold out, and what a pool that waits for its flavor could have instead.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/arena.h"
#include "base/buf.h"
#include "base/json_out.h"
#include "core/core.h"

/* Writes a flavor: its fields, its pools, the zones that are sold out, the pools in line. */
void flavor_json(struct json_out *j, const struct core *core, const struct flavor *flavor,
                 struct arena *arena);

/* Writes what a pool has of its flavor; null: the pool has no flavor. */
void flavor_json_market(struct json_out *j, const struct core *core, const struct pool *pool,
                        struct arena *arena);

/* Writes "price":3.06,"currency":"USD": what a node of the pool costs in an hour. Price 0: unknown, or the pool has no
 * flavor. */
void flavor_json_price(struct json_out *j, const struct core *core, const struct pool *pool,
                       struct arena *arena);

/* Adds to a sentence about a pool that waits for its flavor: where the flavor is sold out and for how long, when the
 * provider is asked again, the pool's place in line, and other flavors that would do. */
void flavor_json_text(const struct core *core, const struct pool *pool, struct buf *out);
