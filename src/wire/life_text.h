/* life_text.h - the life cycle of a pool in words.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/buf.h"
#include "base/json_out.h"
#include "core/core.h"
#include "core/state/fact.h"

/* Says why a pool has its state and its health: "1 node is lost; 2 of 3 nodes are up". `words`: the provider's. */
void life_text_why(const struct pool_standing *standing, const char *words, struct buf *out);

/* Writes "state":…,"health":…,"reason":…,"state_since":…,"restore_until":… of a pool, as the last
 * facts said. `figures` says how many nodes are silent now, and how many drain. */
void life_text_json(struct json_out *j, const struct pool *pool,
                    const struct pool_figures *figures);

/* Writes "message":… of an event: what happened to the pool, as a sentence. */
void life_text_event(struct json_out *j, const struct core *core, const struct fact *fact);
