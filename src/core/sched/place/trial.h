/* trial.h - one decision of the scheduler while it is still tried: the nodes, the accounts, and the list of starts, claims and
 * evictions, over a state that stays untouched. A trial can go back to a mark. Going back costs what was done since the mark.
 *
 *   trial_place ──▶ a start (the instance fits now), or a claim (the instance fits when others have left)
 *   trial_evict ──▶ an instance is told to stop, so that a claim can take its place
 *   trial_unclaim ▶ a claim is dropped, or the instance that holds the claim is about to start
 *
 * At the end the entries of the trial become facts, in the same order.
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

/* One entry of a trial. */
struct decision {
    enum decision_kind kind;
    bool reuse; /* an eviction: the claimant may use the place on a kept node, too */
    bool moved; /* an unclaim before a start of the same instance: such an entry makes no fact */
    const struct task *task;
    uint32_t index; /* of the instance */
    const struct node *node;
    struct grant grant;         /* what the instance gets, or what it gives back */
    struct vector amounts;      /* the grant as one amount for each resource that accounts count */
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
    int64_t lost;          /* what evictions of this trial cost the loss budget (keep/budget.h) */
    struct losses *losses; /* scratch space of rights.c; NULL: not used yet */
    bool rights_known;     /* rights.c has filled in rights_count */
    bool rights_count;     /* several projects wait, and the pool evicts to give them their right */
};

/* trial_init_kept() borrows the share tree of the pool (order/share_tree.h), so trial_done() must follow. Only one trial at a time may borrow the share tree. */
void trial_init(struct trial *trial, const struct core *core, pool_id pool, struct arena *arena);
void trial_init_kept(struct trial *trial, const struct core *core, pool_id pool,
                     struct arena *arena);
void trial_done(struct trial *trial);

/* trial_mark() says where the trial stands. trial_rollback() undoes all entries since a mark. */
size_t trial_mark(const struct trial *trial);
void trial_rollback(struct trial *trial, size_t mark);

/* Places a waiting instance of the asker's task on a node. The instance must fit in the asker's view. The caller has checked the gates.
 * `asker` must live as long as the trial. */
void trial_place(struct trial *trial, const struct asker *asker, const struct node *node,
                 uint32_t index);

/* Tells a starting or running instance to stop. The amounts of the instance are free later. `why` must live as long as the trial.
 * `reuse`: see overlay_leave(). */
void trial_evict(struct trial *trial, const struct instance *instance, const struct eviction *why,
                 bool reuse);

/* Drops the claim of a waiting instance, so that its place is free later. `moved` says that the instance starts in this trial. */
void trial_unclaim(struct trial *trial, const struct task *task, uint32_t index, bool moved);

/* Adds the facts of all entries of the trial to `out`. Returns the number of starts. */
uint32_t trial_facts(const struct trial *trial, const struct input *in, struct facts *out);
