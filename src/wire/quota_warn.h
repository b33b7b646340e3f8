/* quota_warn.h - what is doubtful about a quota that was accepted: guarantees that cannot all be met.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/arena.h"
#include "core/core.h"

enum { QUOTA_WARN_MAX = 8 };

/* Finds guarantees of the account that cannot all be met, because siblings of the account, or of an
 * account above it, are guaranteed more than there is. Puts a sentence for each into `ret`, in the
 * arena. Returns how many sentences there are. A pool without nodes and without a provider gets one
 * sentence, which says so. */
uint32_t quota_warn(const struct core *core, account_id account, pool_id pool, struct arena *arena,
                    const char *ret[QUOTA_WARN_MAX]);
