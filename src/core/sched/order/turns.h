/* turns.h - whose turn it is: the accounts of a pool that have waiting tasks, as the pool's policy orders them.
 *
 *   the pool ─▶ first top account ─▶ … ─▶ first project ─▶ first task of that project
 *
 * The children of each account form a heap. A placement changes only the order of the project and of its ancestors, and each of them
 * is the first of its heap. So a placement costs a few comparisons, however many accounts there are.
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

struct turns_line;

/* A line in a heap. Most comparisons read only `quick`, and so no line. */
struct turns_entry {
    uint64_t
        quick; /* a line with a smaller number comes first; with equal numbers the lines decide */
    struct turns_line *line;
};

/* An account in the order of turns. */
struct turns_line {
    const struct account_view *view; /* NULL: the root, which stands for the pool */
    struct turns_line *parent;
    struct turns_entry *heap; /* the lines below that have waiting tasks; NULL: a project */
    uint32_t count;           /* number of lines in `heap` */
    bool mixed; /* the heap is being filled, and its lines were not added in the order of age */
    struct queue queue;      /* the waiting tasks of the project */
    struct turns_line *best; /* the project at or below this line that has the next turn */
    struct vector chunk;     /* what the first task of `best` would take at its turn */
    /* the stamp of the kept key that belongs to the chunk; 0: there is no such key */
    uint32_t key_stamp;
    struct account_order_kept
        *kept; /* fair-share: the kept key, current while the line is in a heap */
    const struct first_bound *bound; /* the project's first task that a bound holds back */
    bool blocked;                    /* the project's first blocked task was noted, or holds */
    uint32_t turns;                  /* round-robin: turns that the project had in this pass */
    int64_t used;                    /* round-robin: slots that the project held before the pass */
};

struct turns {
    const struct core *core;
    const struct tally *tally;
    enum pool_policy policy;
    struct shape_notes notes;
    struct turns_line root;
    struct turns_line **all; /* all lines; lines with lines below them come first */
    uint32_t all_count;
    uint32_t inner_count;      /* lines that have lines below */
    uint64_t seen;             /* tally->writes when the heaps were last brought up to date */
    struct turns_line **lines; /* by the index of the account's view; NULL: no task waits there */
};

/* Fills the turns with all waiting tasks of the pool. Comparisons of accounts read `tally`, which must live as long as the turns. */
void turns_init(struct turns *turns, const struct core *core, const struct pool *pool,
                const struct tally *tally, struct arena *arena);

/* The project whose turn it is. The first task of that project is tried next. NULL: no task is left to try. */
struct turns_line *turns_first(const struct turns *turns);

/* Restores the order after the first project, `line`, got a place or its queue advanced. */
void turns_update(struct turns *turns, struct turns_line *line);

/* The first task that a bound holds back, of the project whose view has this index; NULL: none. */
const struct first_bound *turns_bound(const struct turns *turns, uint32_t index);

/* May a department of some waiting project have a limit? */
bool turns_bounded(const struct turns *turns);

/* How many instances of a task are placed together next, after the pass has placed `added` instances of the task. */
uint32_t turns_chunk(const struct task *task, uint32_t added);

/* The note of a shape with `plain` and `amounts` filled in. `task` has the shape. */
const struct shape_note *turns_note(const struct core *core, struct shape_note *note,
                                    const struct task *task);

/* What `count` instances of a task request. `bound` says how many slots a part of a device by memory counts for: as on the pool's
 * largest devices (SLOTS_LEAST) or as on the smallest (SLOTS_MOST). */
void turns_amounts(const struct core *core, const struct task *task, uint32_t count,
                   enum slots_bound bound, struct vector *ret);
