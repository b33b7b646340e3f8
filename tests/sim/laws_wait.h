/* laws_wait.h - P7 with its bound (docs/user/budgets.md): how long a blocked task waits at most.
 *
 * Judged is the first task of each project, once it is within its right or has a turn. Where the order of turns is fixed, it is the
 * first task of the pool. The bound is made of what is seen until then: the longest run of an instance in the pool, the releases of
 * the task, the slots that the task and the holders need, and what the idle budget gets. Time does not count while something other
 * than room is in the way. Not judged are queues by length, tasks with groups or topology, and departments with a limit.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/vec.h"
#include "ledger.h"

/* The first task of one project of one pool. */
struct laws_first {
    pool_id pool;
    account_id account;
    task_id task; /* 0: none is judged */
    int64_t queued_ms;
    int64_t since_ms; /* since when the task is the first one, and only room is in the way */
    int64_t slots;    /* the usable slots of the pool since then */
    uint32_t beside;  /* the most projects that waited beside this one since then */
};

struct laws_wait {
    VEC(struct laws_first) firsts;
    int64_t longest_ms; /* the longest run of an instance */
    uint64_t count;     /* waits that were judged and are over, or last */
    uint64_t most;      /* the longest of them, in thousandths of its bound */
};

void laws_wait_init(struct laws_wait *wait);
void laws_wait_done(struct laws_wait *wait);

/* Called when an instance has run for so long. */
void laws_wait_ran(struct laws_wait *wait, int64_t ran_ms);

/* Called after each complete pass over the pool, with a ledger of that state. */
void laws_wait_rest(struct laws_wait *wait, const struct ledger *ledger, pool_id pool,
                    int64_t now_ms);
