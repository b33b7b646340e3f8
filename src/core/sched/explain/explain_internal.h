/* explain_internal.h - one look at the nodes on behalf of one task: shared by explain.c, explain_held.c and explain_smaller.c.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/model/ids.h"
#include "core/model/node.h"
#include "core/model/oindex.h"
#include "core/model/pool.h"
#include "core/model/shape.h"
#include "core/model/task.h"
#include "core/model/vector.h"
#include "core/sched/explain/explain.h"
#include "core/sched/place/overlay.h"
#include "core/sched/place/trial.h"
#include "core/state/state.h"

#include <stdbool.h>
#include <stdint.h>

struct explain_look {
    const struct core *core;
    const struct task *task;
    const struct pool *pool;
    const struct shape *shape;
    struct trial trial; /* for its overlay and tally; a look decides nothing */
    struct asker asker;
    struct explanation *ret;
    struct vector comes; /* amounts of the places in have_left, and of one place beyond */
    bool over;           /* some free place is beyond what the accounts may still take */
    bool behind;         /* the task comes behind a holder, or quota is kept for a task ahead */
    const struct reservation *holder; /* the first holder that the task comes behind */
    const struct task *held; /* the task for which the quota is kept that this task needs */
    uint32_t count;          /* instances that start together */
    uint32_t have;           /* places for these that are free, not kept and not promised */
    uint32_t have_left;      /* places of `have` within what the task's accounts may still take */
    uint32_t have_unkept;    /* places that are free and not promised, kept or not */
    uint32_t have_kept;      /* places that are free, kept and promised places included */
    uint32_t able;           /* nodes that could hold one instance if nothing ran there */
    uint32_t able_up;        /* nodes of `able` that are usable */
    uint32_t holds_up;       /* places on usable nodes if nothing ran there, at most `count` */
    uint32_t resume_fits;    /* free places on the draining node with the most free places */
    uint32_t away_fits;      /* free places on `away` */
    node_id
        away; /* of the other nodes that take no work, the one that has most free places; 0: none */
};

/* The next node of the task's pool behind `*key`; moves the key. False: there is none. */
bool explain_node_next(const struct explain_look *look, struct okey *key, const struct node **ret);

/* Of the nodes that take no work, notes the draining node and the other node that have the most free places for the task. */
void explain_away_look(struct explain_look *look, const struct node *node);

/* Drops the nodes that explain_away_look() noted if even with their free places the task would not
 * have all its places. If the task waits for room, its reason names one of the nodes that are left. */
void explain_away_choose(struct explain_look *look);

/* Another task that has a promised place in the pool, on the first node with such a promise; 0: there is none. */
task_id explain_held_promised(const struct explain_look *look);

/* When all instances that leave the nodes promised to the task should have ended. */
int64_t explain_held_leaving_ms(const struct core *core, const struct task *task);

/* The task for which the quota is kept that this task's next instances need; NULL: none. `*ret_any`: quota is kept for some task, so
 * a smaller request might need kept quota, too. */
const struct task *explain_held_quota(struct trial *trial, const struct task *task, bool *ret_any);

/* Sets `look->held`: the task for which this task's quota, or the right of a holder's project, is kept. explain_held_keep() must have
 * been called before. */
void explain_held(struct explain_look *look);

/* Notes the holders that the task comes behind. If the task would fit without kept places, keeps the places of these holders in the
 * look's trial and returns true. */
bool explain_held_keep(struct explain_look *look);

/* Keeps the places of all holders in the look's trial: neither the task nor the tasks that it moves may use these places. */
void explain_held_keep_all(struct explain_look *look);

/* The largest amount of what the nearest node lacks with which the task would start on some node now; -1: there is no such amount,
 * or the exact amount is not known. */
int64_t explain_smaller_now(const struct explain_look *look, const struct explain_node *near);

/* For a task that a bound of its accounts or its user holds back: the largest amount of the bounded resource with which the task
 * would start now; -1: there is none. */
int64_t explain_smaller_within(struct explain_look *look);
