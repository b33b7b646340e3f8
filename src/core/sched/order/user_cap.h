/* user_cap.h - the slots that the tasks of each user hold in a pool within a trial, now and later. The pool's cap per user bounds these
 * slots.
 *
 * In a pool without a cap the table stays empty. tally.h says which entries of a trial count in which view.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/arena.h"
#include "core/model/ids.h"
#include "core/sched/order/view.h"
#include "core/state/state.h"

#include <stdint.h>

/* A user whose slots differ from the user's usage in the state: by the trial, by claims or by leaving instances. */
struct user_slots {
    user_id user;
    int64_t slots[VIEW_COUNT];
};

struct user_caps {
    const struct core *core;
    pool_id pool;
    struct arena *arena;
    int64_t slots_max;     /* the cap; 0: the pool has no cap, and the table stays empty */
    struct user_slots *at; /* a hash table with open addressing by user; user 0: an unused entry */
    uint32_t room;
    uint32_t count;
};

/* Fills the table from the state. In VIEW_LATER leaving instances do not count and claims do. */
void user_cap_init(struct user_caps *caps, const struct core *core, pool_id pool,
                   struct arena *arena);

/* Adds `slots`, which may be negative, to what the user holds in a view. */
void user_cap_move(struct user_caps *caps, user_id user, enum view view, int64_t slots);

/* The slots that the user may still take. VIEW_NOW answers for a start, which must be within the cap now and later. VIEW_LATER answers for
 * a claim. VECTOR_UNLIMITED: the pool has no cap. */
int64_t user_cap_left(const struct user_caps *caps, user_id user, enum view view);
