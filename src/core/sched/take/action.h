/* action.h - waiting tasks that found no free place try to get one from others.
 *
 *   consolidate ─▶ running tasks move, nobody loses
 *   reclaim     ─▶ other accounts give back what they hold beyond their right
 *   preempt     ─▶ lower priorities of the same project (of the pool, where priority is its policy) make room
 *
 * The waiting tasks are gone through in the pool's order, chunk by chunk: what is missing of a gang's minimum, else one
 * instance. Each chunk tries one way after the other. Equal tasks of a project that fail are tried once.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/model/pool.h"
#include "core/model/task.h"
#include "core/model/vector.h"
#include "core/sched/order/queue.h"
#include "core/sched/order/reclaim_rules.h"
#include "core/sched/place/trial.h"
#include "core/sched/take/solve.h"
#include "core/sched/take/solve_internal.h"

#include <stdbool.h>
#include <stdint.h>

/* What one pass may look at: pieces, as solve.h counts them. A single claimant gets at most the second;
 * the third where nobody has a right to more than what is free, and running tasks would only move. */
enum { ACTION_WORK_MAX = 400000, CLAIMANT_WORK_MAX = 100000, CONSOLIDATE_WORK_MAX = 2000 };

struct action {
    struct trial *trial;
    struct bounds_above *above; /* what is kept of the bounds of accounts above projects */
    const struct pool *pool;
    int64_t now_ms;
    struct solve *solve;
    uint64_t work;
    int64_t wake_ms;       /* when somebody may do what he may not yet; INT64_MAX: nobody */
    uint64_t claimant_max; /* what one search may look at */
    bool failed;           /* somebody did not get what he tried to */
};

/* The next instances of a waiting task. */
struct chunk {
    const struct task *task;
    const uint32_t *indices;
    uint32_t count;
    struct vector amounts;   /* all of them together */
    uint32_t passes;         /* holders whose kept places it may use (rights.h) */
    struct shape_note *note; /* of its shape: so many could not be made room for by moving others */
};

enum chunk_result {
    CHUNK_CLAIMED, /* the trial has places for it */
    CHUNK_FAILED,  /* no equal task of the project will do better */
    CHUNK_SKIPPED, /* not this task, perhaps the next */
    CHUNK_HELD,    /* what it asks for is kept for another */
};

struct action_result {
    bool again;      /* once this is done, another pass may find more */
    int64_t wake_ms; /* the moment from which on somebody may who may not yet; 0: nobody */
};

/* Does the pool's policy have any of the three? */
bool action_any(const struct pool *pool);

/* Consolidation, reclaim and preemption over what the trial has placed so far, as far as the pool's policy has them. `*work`
 * grows by what was looked at. */
struct action_result action_run_all(struct trial *trial, struct bounds_above *above, int64_t now_ms,
                                    uint64_t *work);

/* Would the next instances of this task get a place from others if it were `now_ms` and its turn? The trial stays as it is; `*work`
 * grows by what was looked at, and a search ends without an answer at `work_max`. `*ret_wake_ms` is when the first of those that
 * are protected by their minimum runtime then will not be any more; INT64_MAX: none was met. */
bool action_would(struct trial *trial, const struct task *task, int64_t now_ms, uint64_t work_max,
                  uint64_t *work, int64_t *ret_wake_ms);

/* A search for this chunk, within this much work. */
enum chunk_result action_solve(struct action *action, const struct solve_ask *ask,
                               uint64_t work_max);

/* Is what is found for the task true for all of its shape? Not of gangs with a form that run: they have places to go to. */
bool action_shape_speaks(const struct action *action, const struct task *task);

/* The claimant behind a chunk. */
struct claimant action_claimant(const struct action *action, const struct chunk *chunk);
