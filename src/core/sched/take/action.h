/* action.h - a waiting task that found no free place gets one from running tasks, by one of three actions.
 *
 *   consolidate ─▶ running tasks move to other nodes, and no task loses its place
 *   reclaim     ─▶ tasks of accounts that hold more than their right are evicted
 *   preempt     ─▶ tasks of lower priority in the same project are evicted (policy `priority`: of any project)
 *
 * The pass calls action_take() at the task's turn, when the task's next chunk found no free place. A chunk is what is missing of a
 * gang's minimum, else one instance. Each chunk tries one action after the other.
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

struct first_bound;
struct hold;
struct bounds_above;

#include <stdbool.h>
#include <stdint.h>

/* Budgets in units of work, as solve.h counts them: of the actions of one pass, of one search for victims, and of one search by
 * consolidation. Consolidation has the smallest budget, because its claimant has no right to the places of others. */
enum { ACTION_WORK_MAX = 400000, CLAIMANT_WORK_MAX = 100000, CONSOLIDATE_WORK_MAX = 2000 };

struct action {
    struct trial *trial;
    struct bounds_above *above; /* quota of departments that is kept; NULL: none */
    struct hold *hold;          /* its places are kept before the first search; NULL: none */
    const struct pool *pool;
    int64_t now_ms;
    struct solve *solve;
    uint64_t work;
    int64_t wake_ms;       /* the first end of a preemption delay that was met; INT64_MAX: none */
    uint64_t claimant_max; /* the budget of one search for victims */
    bool leaving;          /* some instance is leaving a node of the pool */
    bool claimed;          /* some chunk got a place */
};

/* The next instances of a waiting task. */
struct chunk {
    const struct task *task;
    const uint32_t *indices;
    uint32_t count;
    struct vector amounts; /* of all instances of the chunk together */
    uint32_t passes;       /* holders whose kept places the task may use, one bit each (rights.h) */
    struct shape_note *note; /* of the task's shape */
};

enum chunk_result {
    CHUNK_CLAIMED, /* the trial has a place for every instance of the chunk */
    CHUNK_FAILED,  /* no place was found, and equal tasks of the project would find none either */
    CHUNK_SKIPPED, /* the task may not take now; an equal task may */
    CHUNK_HELD,    /* the amounts of the chunk are kept for another task */
};

/* Does the pool have any action: preemption is on, and the policy is `fair-share` or `priority`? */
bool action_any(const struct pool *pool);

/* Begins the actions of a pass. The pool must have actions. `above` and `hold` may be NULL. */
void action_init(struct action *action, struct trial *trial, struct bounds_above *above,
                 struct hold *hold, int64_t now_ms);

/* The actions of the pool's policy for the next chunk of this task, beside what the trial has placed so far. `bound`: the quota kept
 * for a task ahead in the project, or NULL. CHUNK_CLAIMED: places and evictions are in the trial, and the lane counts the chunk. */
enum chunk_result action_take(struct action *action, const struct first_bound *bound,
                              const struct task *task, struct lane *lane);

/* Is it certain that action_take() takes nothing for one instance of this task, and changes nothing but the work done? The task must
 * be preemptible and neither a gang nor bounded by limits or holders. `account` is the task's, `note` that of its shape. */
bool action_waits(struct action *action, const struct account_view *account,
                  const struct task *task, struct shape_note *note);

/* When the first delay or protection ends that stopped an action; 0: none did. */
int64_t action_wake_ms(const struct action *action);

/* Would the next instances of this task get a place by an action if it were the task's turn at `now_ms`? The trial stays as it is.
 * `*work` grows by the work done; a search ends without an answer at `work_max`. `*ret_wake_ms`: when the minimum runtime of the
 * first protected piece ends; INT64_MAX: the search met no protected piece. */
bool action_would(struct trial *trial, const struct task *task, int64_t now_ms, uint64_t work_max,
                  uint64_t *work, int64_t *ret_wake_ms);

/* Searches for victims for `ask`, within `work_max` and the budget of the action. CHUNK_CLAIMED or CHUNK_FAILED. */
enum chunk_result action_solve(struct action *action, const struct solve_ask *ask,
                               uint64_t work_max);

/* Does a failure of the task hold for all tasks of its shape? False for a running gang with a form: the running instances of the
 * gang say in which domain its next instances must be. */
bool action_shape_speaks(const struct action *action, const struct task *task);

/* Is the claimant's project within its guarantee? Then what the claimant takes costs the loss budget nothing (P4). */
bool action_guaranteed(const struct claimant *claimant);

/* The chunk as a claimant of reclaim_rules.h: account, amounts and preemptibility. */
struct claimant action_claimant(const struct action *action, const struct chunk *chunk);
