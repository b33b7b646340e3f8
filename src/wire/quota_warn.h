/* quota_warn.h - what is doubtful about a quota that was accepted: guarantees that cannot all be met.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/arena.h"
#include "core/core.h"

enum { QUOTA_WARN_MAX = 8 };

/* Says for each resource that the account is guaranteed where more is promised than there is: beside the account, and beside each
 * account above it. Returns the number of sentences, which are in the arena. Of a pool without nodes and without a provider that
 * brings nodes up, one sentence says that. */
uint32_t quota_warn(const struct core *core, account_id account, pool_id pool, struct arena *arena,
                    const char *ret[QUOTA_WARN_MAX]);
