/* quota_json.h - quotas as docs/api/objects.md has them.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/arena.h"
#include "base/json_out.h"
#include "core/core.h"

/* The quota of one account in one pool: what is set, by resource. */
void quota_json(struct json_out *j, const struct core *core, account_id account, pool_id pool,
                struct arena *arena);

/* One line of the list of quotas: one account, pool and accounted resource, with what is used of it. */
void quota_json_line(struct json_out *j, const struct core *core, account_id account, pool_id pool,
                     uint32_t dim);

/* Does the line say more than the defaults, or something of slots? The others are left out unless asked
 * for. */
bool quota_json_line_matters(const struct core *core, account_id account, pool_id pool,
                             uint32_t dim);
