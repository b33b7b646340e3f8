/* quota_json.h - quotas as in docs/api/objects.md.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/arena.h"
#include "base/json_out.h"
#include "core/core.h"

/* Writes the quota of one account in one pool: the values that were set, by resource. */
void quota_json(struct json_out *j, const struct core *core, account_id account, pool_id pool,
                struct arena *arena);

/* Writes one line of the list of quotas: one account, pool and accounted resource, with the use
 * of it. */
void quota_json_line(struct json_out *j, const struct core *core, account_id account, pool_id pool,
                     uint32_t dim);

/* True for a line that differs from the defaults or that is about slots. Lists leave the other
 * lines out unless they are asked for. */
bool quota_json_line_matters(const struct core *core, account_id account, pool_id pool,
                             uint32_t dim);
