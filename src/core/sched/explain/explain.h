/* explain.h - why a task waits now. Computed from the state by the code that places tasks, so an explanation cannot be stale.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/model/form.h"
#include "core/model/ids.h"
#include "core/model/length.h"
#include "core/model/pool.h"
#include "core/model/reason.h"
#include "core/model/resource.h"
#include "core/model/task.h"
#include "core/sched/place/score.h"
#include "core/state/state.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    EXPLAIN_NODES_MAX = 5,
};

/* A node on which the task nearly fits, and the first thing that the node lacks. */
struct explain_node {
    node_id node;
    enum reason_code code;
    resource_id resource;
    int64_t wanted;
    int64_t available;
    struct score score; /* how well the node suits the request by the pool's placement */
};

/* How an account stands in one resource: the task's project, or the account that holds the task back. */
struct explain_account {
    account_id id; /* 0: accounts do not matter for this reason */
    resource_id resource;
    int64_t guaranteed; /* or QUOTA_UNLIMITED */
    int64_t share;
    int64_t allocated; /* promised amounts included, amounts of leaving instances not */
    int64_t limit;     /* or QUOTA_UNLIMITED */
    int64_t held;      /* what counts against the bound that holds the task back */
};

struct explanation {
    int64_t asked_ms; /* the time at which proposals are tried; at first the time of the state */
    struct reason reason;           /* why the task waits; REASON_NONE: the task does not wait */
    int64_t expect_ms;              /* how long the task is expected to run; 0: unknown */
    enum length_source expect_from; /* from which ended tasks that length was learned */
    int64_t reserved_until_ms; /* when a holder starts at the latest; 0: no holder, or not known */
    uint32_t nodes_total;      /* nodes looked at */
    node_id resume; /* a draining node on which the task would start if it took work; 0: none */
    uint32_t near_count;
    struct explain_node near[EXPLAIN_NODES_MAX]; /* nearest first */
    struct explain_account account;
    uint32_t blocker_count;
    /* Tasks that hold what the nearest node lacks, or tasks on which the task depends. */
    task_id blockers[EXPLAIN_NODES_MAX];
};

/* Explains why a task waits. A task that does not exist, or does not wait, has REASON_NONE. */
void explain_task(const struct core *core, task_id id, struct explanation *ret);

/* Explains why a task that waits in several pools waits in this open pool. */
void explain_task_in(const struct core *core, task_id id, pool_id in, struct explanation *ret);

/* What two waiting tasks have in common if they wait for the same reason. Plain numbers without gaps, to be compared as bytes. */
struct explain_group {
    shape_id shape;
    account_id account;
    user_id user;
    uint32_t priority;
    uint32_t ahead; /* the holders before which the task comes, one bit each */
    uint32_t preemptible;
};

/* The group of tasks with which the task shares its reason, as long as the state stays the same. False: the task has places, promises
 * or a delay of its own, so its reason is its own. */
bool explain_group(const struct core *core, const struct task *task, struct explain_group *ret);

/* Does the reason say that there is no free place? Only a task that waits for such a reason may evict others. */
bool explain_time_for_room(enum reason_code code);

/* The priority with which the task would evict others and start now: its priority plus one. 0: a higher priority would not help, or
 * the answer is not known. */
uint32_t explain_time_priority(const struct core *core, task_id id);

/* Can `gang_size` instances of this request ever run together in the pool (P9)? False: the reason says why not, and the smallest
 * change that would help. */
bool explain_possible(const struct core *core, const struct pool *pool,
                      const struct request *request, uint32_t gang_size, struct reason *ret);

/* Can a gang with a form ever run in the pool (P9)? Only what certainly cannot run is refused: each group is tested alone, because a
 * search for different groups together is not exact. `*ret_group`: which group is refused, as the task lists its groups, from 1; 0: the
 * refusal is not about one group. */
bool explain_form_possible(const struct core *core, const struct pool *pool,
                           const struct form *form, struct reason *ret, uint32_t *ret_group);
