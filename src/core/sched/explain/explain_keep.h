/* explain_keep.h - why no places are kept for a blocked task yet: patience, credit or the idle budget.
 *
 * Unlike a reason, the answer changes with time, so that only an explanation of one task has it, and no list of tasks.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/model/ids.h"
#include "core/sched/explain/explain.h"
#include "core/state/state.h"

#include <stdint.h>

enum explain_keeping {
    KEEPING_NONE,     /* the question does not arise, or the next pass answers it */
    KEEPING_HOLDS,    /* places are kept for the task */
    KEEPING_PATIENCE, /* the pool's patience is over at `until_ms` */
    KEEPING_BUDGET,   /* the idle budget has `level` of the `cost`, enough at `until_ms` */
    KEEPING_CREDIT, /* the task needs a turn, and `account` has used more than its share; full again at `until_ms` */
    KEEPING_NO_SHARE, /* the task needs a turn, and `account` has no share */
    KEEPING_NO_TURN, /* the task needs a turn, and what others are guaranteed and ask for leaves too little */
};
enum { EXPLAIN_KEEPING_COUNT = KEEPING_NO_TURN + 1 };

struct explain_keep {
    enum explain_keeping code;
    account_id account;
    int64_t
        level; /* of the idle budget, without what the holders need; thousandths of a slot times milliseconds */
    int64_t cost;
    int64_t until_ms; /* at the earliest; 0: not known */
};

/* `why`: the explanation of this task. */
void explain_keep(const struct core *core, task_id id, const struct explanation *why,
                  struct explain_keep *ret);
