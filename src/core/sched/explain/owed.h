/* owed.h - waiting tasks that are owed a place: their project is below its guarantee, and borrowers hold the places they need.
 *
 * This is a yardstick for reclaim, not a part of reclaim. A complete pass with reclaim leaves no task that owed_find() finds. The
 * next chunk of a waiting task is owed a place if all of this holds:
 *   1. With the chunk, the project is within its guarantee. Promised amounts count, amounts of leaving instances do not.
 *   2. Neither a limit, nor the user's cap, nor the preemption delay forbids the chunk.
 *   3. The chunk fits once all leaving instances have left and all victims that reclaim_rules allows have left, too. Victims are
 *      preemptible, of other accounts, past their minimum runtime, and their account is above its guarantee or share.
 * No task is moved to make room. For a gang all nodes are looked at in the order of their ids, and each account gives only what it
 * holds beyond its right. Gangs with a form are left out.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/arena.h"
#include "core/model/ids.h"
#include "core/state/state.h"

#include <stddef.h>
#include <stdint.h>

struct owed {
    account_id account; /* a project */
    task_id task;       /* the first task of the project that is owed a place, lane by lane */
    uint32_t count;     /* instances of the task's next chunk */
};

/* One entry for each project of the pool that is owed a place, in the order of the pool's shares; returns how many. The entries live
 * in the arena. */
size_t owed_find(const struct core *core, pool_id pool, int64_t now_ms, struct arena *arena,
                 const struct owed **ret);
