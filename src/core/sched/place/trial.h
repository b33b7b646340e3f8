/* trial.h - one decision of the scheduler while it is still being tried: nodes, accounts and the list of what would be done, over
 * a state that stays untouched. Everything can be taken back to a mark, at the cost of what was done since.
 *
 *   trial_place ──▶ a start (it fits now), or a claim (it fits when others have left)
 *   trial_evict ──▶ an instance is told to stop, so that a claim can be made
 *   trial_unclaim ▶ a claim is given up, or its owner is about to start there
 *
 * At the end the list becomes facts, in its own order.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/arena.h"
#include "core/model/claim.h"
#include "core/model/ids.h"
#include "core/model/input.h"
#include "core/model/node.h"
#include "core/model/space.h"
#include "core/model/task.h"
#include "core/model/vector.h"
#include "core/sched/order/tally.h"
#include "core/sched/place/overlay.h"
#include "core/state/fact.h"
#include "core/state/state.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum decision_kind { DECISION_START, DECISION_CLAIM, DECISION_EVICT, DECISION_UNCLAIM };

struct decision {
    enum decision_kind kind;
    bool moved; /* an unclaim that a start follows: no fact of its own */
    const struct task *task;
    uint32_t index; /* of the instance */
    const struct node *node;
    struct grant grant;
    struct vector amounts;
    const struct eviction *why; /* of an eviction */
};

struct losses;

struct trial {
    const struct core *core;
    pool_id pool;
    struct arena *arena;
    struct overlay overlay;
    struct tally tally;
    struct decision *decisions;
    size_t count;
    size_t room;
    struct losses *losses; /* scratch space of rights.c; NULL: not yet */
    bool rights_known;     /* and what it asks for every task: */
    bool rights_count;
};

void trial_init(struct trial *trial, const struct core *core, pool_id pool, struct arena *arena);
void trial_done(struct trial *trial);

/* Where the trial stands; go back there. */
size_t trial_mark(const struct trial *trial);
void trial_rollback(struct trial *trial, size_t mark);

/* A waiting instance of the asker's task takes a place on a node that has room for it in the asker's view. The gates are for
 * the caller to ask. `asker` must live as long as the trial. */
void trial_place(struct trial *trial, const struct asker *asker, const struct node *node,
                 uint32_t index);

/* An instance that holds something is told to stop: what it holds is free later. `why` must live as long as the trial. */
void trial_evict(struct trial *trial, const struct instance *instance, const struct eviction *why);

/* The place promised to a waiting instance is nobody's again. `moved`: it starts in this very trial. */
void trial_unclaim(struct trial *trial, const struct task *task, uint32_t index, bool moved);

/* What was decided, as facts. Returns the number of starts. */
uint32_t trial_facts(const struct trial *trial, const struct input *in, struct facts *out);
