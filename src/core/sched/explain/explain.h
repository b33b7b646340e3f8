/* explain.h - why a task waits, now: computed from the state by the same code that places it, so it
 * cannot be stale.
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
    EXPLAIN_POSITION_MAX = 10000, /* further back is not counted out */
};

/* A node that comes close, and the first thing it lacks. */
struct explain_node {
    node_id node;
    enum reason_code code;
    resource_id resource;
    int64_t wanted;
    int64_t available;
    struct score score; /* how well the pool's placement likes it */
};

/* How an account stands in one resource: the task's project, or the one that holds it back. */
struct explain_account {
    account_id id; /* 0: does not matter */
    resource_id resource;
    int64_t guaranteed; /* or QUOTA_UNLIMITED */
    int64_t share;
    int64_t allocated; /* without what is leaving, with what is promised */
    int64_t limit;     /* or QUOTA_UNLIMITED */
    int64_t held;      /* what counts against the bound that is in the way */
};

struct explanation {
    struct reason reason; /* the first thing in the way; REASON_NONE when it does not wait */
    uint32_t
        position; /* in its pool's order, from 1; 0: not in it; above the maximum: further back */
    int64_t expect_ms; /* how long it is expected to run; 0: unknown */
    enum length_source expect_from;
    int64_t
        reserved_until_ms; /* it holds a reservation, and starts at the latest then; 0: no such moment is known */
    uint32_t nodes_total; /* nodes looked at */
    node_id resume; /* a draining node: if it took work again, the task would start; 0: none */
    uint32_t near_count;
    struct explain_node near[EXPLAIN_NODES_MAX]; /* nearest first */
    struct explain_account account;
    uint32_t blocker_count;
    task_id blockers
        [EXPLAIN_NODES_MAX]; /* tasks that hold what it needs on the nearest node, or that it depends on */
};

void explain_task(const struct core *core, task_id id, struct explanation *ret);

/* What two waiting tasks have in common if they wait for the same reason: plain numbers without gaps, to be compared as bytes. */
struct explain_group {
    shape_id shape;
    account_id account;
    user_id user;
    uint32_t priority;
    uint32_t ahead; /* of which holders of reservations it comes, bit by bit */
    uint32_t preemptible;
};

/* Whom the task shares its reason with, as long as the state stays the same. False: nobody, it has places, promises or a moment of
 * its own. */
bool explain_group(const struct core *core, const struct task *task, struct explain_group *ret);

/* Does the reason say that there is no free place? Only such a task may have one made by others. */
bool explain_time_for_room(enum reason_code code);

/* The priority with which the task, now that it waits for room, would take its place from others; 0: none would do, or it is not
 * known. */
uint32_t explain_time_priority(const struct core *core, task_id id);

/* Can this ever run (P9)? True, or false with the reason and the smallest change. Used at
 * submission and at start. */
bool explain_possible(const struct core *core, const struct pool *pool,
                      const struct request *request, uint32_t gang_size, struct reason *ret);

/* The same for a gang with a form. What is not alike may be possible where nothing was found: only what cannot be is refused.
 * `*ret_group`: which group cannot be, as the task lists them, from 1; 0: it has none. */
bool explain_form_possible(const struct core *core, const struct pool *pool,
                           const struct form *form, struct reason *ret, uint32_t *ret_group);
