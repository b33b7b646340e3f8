/* turns.h - whose turn it is: the accounts of a pool that have waiting tasks, as the pool's policy orders them.
 *
 *   the pool ─▶ best account at the top ─▶ … ─▶ best project ─▶ its first task
 *
 * Each level is a heap. What a project is given changes only its own place and that of the accounts above it, all of which stand
 * first, so the order after each placement costs a few comparisons however many accounts there are.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/arena.h"
#include "core/model/pool.h"
#include "core/model/spec.h"
#include "core/model/task.h"
#include "core/model/vector.h"
#include "core/sched/order/account.h"
#include "core/sched/order/account_order.h"
#include "core/sched/order/queue.h"
#include "core/sched/order/tally.h"
#include "core/state/query.h"
#include "core/state/state.h"

#include <stdbool.h>
#include <stdint.h>

struct first_bound;

struct turns_line {
    const struct account_view *view; /* NULL: the pool itself */
    struct turns_line *parent;
    struct turns_line **heap; /* those below that have waiting tasks */
    uint32_t count;
    bool linked;
    struct queue queue;           /* of a project */
    struct turns_line *best;      /* the project below whose turn it would be */
    struct vector chunk;          /* what its first task would take next */
    struct account_order_key key; /* its place among its siblings, while it holds the same */
    uint32_t key_changes;         /* of the account when that was found */
    bool key_known;
    bool full; /* it holds its share already, as far as its next chunk asks for more */
    const struct first_bound *bound; /* of its tasks the first that its bounds hold back */
    bool blocked;   /* one of its tasks was noted as the first that found no room */
    bool waits;     /* one of its tasks goes on waiting */
    uint32_t turns; /* round-robin: how often it was served in this pass */
    int64_t used;   /* round-robin: slots it held before */
};

struct turns {
    const struct core *core;
    const struct tally *tally;
    enum pool_policy policy;
    struct shape_notes notes;
    struct turns_line root;
    struct turns_line *lines; /* by index of the account's view */
};

/* All waiting tasks of the pool. `tally` is read whenever accounts are compared. */
void turns_init(struct turns *turns, const struct core *core, const struct pool *pool,
                const struct tally *tally, struct arena *arena);

/* The project whose turn it is; its first task is the next one. NULL: nobody waits any more. */
struct turns_line *turns_first(const struct turns *turns);

/* The first project was given something, or its queue has moved on. */
void turns_update(struct turns *turns, struct turns_line *line);

/* How many instances of a task are to be placed next, `added` of them being placed already. */
uint32_t turns_chunk(const struct task *task, uint32_t added);

/* What so many instances of a task ask for; parts of devices by memory as on the pool's largest or smallest devices. */
void turns_amounts(const struct core *core, const struct task *task, uint32_t count,
                   enum slots_bound bound, struct vector *ret);
