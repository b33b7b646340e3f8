/* user_cap.h - slots that the tasks of each user hold in a pool within a trial, now and later: what the pool's cap per user bounds.
 *
 * Nothing is kept in a pool without a cap. See tally.h for the two views. SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/arena.h"
#include "core/model/ids.h"
#include "core/sched/order/view.h"
#include "core/state/state.h"

#include <stdint.h>

/* A user of whom the trial or the state says more than what is held now. */
struct user_slots {
    user_id user;
    int64_t slots[VIEW_COUNT];
};

struct user_caps {
    const struct core *core;
    pool_id pool;
    struct arena *arena;
    int64_t slots_max;     /* 0: no cap, nothing is kept */
    struct user_slots *at; /* open addressing by user; 0: free */
    uint32_t room;
    uint32_t count;
};

/* As the state has it: those who leave hold nothing later, what is promised counts later. */
void user_cap_init(struct user_caps *caps, const struct core *core, pool_id pool,
                   struct arena *arena);

/* Slots more (or, negative, less) in a view. */
void user_cap_move(struct user_caps *caps, user_id user, enum view view, int64_t slots);

/* What the user may still take: now and later, or (a claim) later. VECTOR_UNLIMITED: there is no cap. */
int64_t user_cap_left(const struct user_caps *caps, user_id user, enum view view);
