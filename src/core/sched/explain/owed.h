/* owed.h - waiting work that is owed a place: its project is below its guarantee, and others hold what it needs beyond theirs.
 *
 * The yardstick for reclaim, not a part of it: a pass of a pool that evicts leaves nothing owed that can be found by looking at one
 * node after the other. The next chunk of a waiting task (a gang's minimum, else one instance) is owed a place when
 *   - the project would be within its guarantee with it (what leaves left out, what is promised included), and neither a limit,
 *     its user's cap nor its preemption delay speaks against it;
 *   - it would fit if what leaves had left and those had gone that reclaim_rules lets it take: preemptible, of other accounts,
 *     past their minimum runtime, as long as their account is above its guarantee or share (where the two accounts part: a
 *     department may be in the way). Nobody is moved for it. Of a gang: all
 *     nodes together, in order of id, each account giving only what it has too much.
 * Gangs whose instances are not alike or must be close together are left out.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/arena.h"
#include "core/model/ids.h"
#include "core/state/state.h"

#include <stddef.h>
#include <stdint.h>

struct owed {
    account_id account; /* a project */
    task_id task;       /* the first of it that was found, by lanes */
    uint32_t count;     /* instances of its next chunk */
};

/* One entry for each project of the pool that is owed something, ascending by account; returns how many. In the arena. */
size_t owed_find(const struct core *core, pool_id pool, int64_t now_ms, struct arena *arena,
                 const struct owed **ret);
