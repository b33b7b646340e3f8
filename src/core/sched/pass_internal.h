/* pass_internal.h - a pass under way: shared by pass.c and pass_form.c.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/arena.h"
#include "core/model/input.h"
#include "core/model/pool.h"
#include "core/model/shape.h"
#include "core/model/task.h"
#include "core/model/vector.h"
#include "core/sched/keep/hold.h"
#include "core/sched/keep/first_bound.h"
#include "core/sched/order/queue.h"
#include "core/sched/order/turns.h"
#include "core/sched/place/overlay.h"
#include "core/sched/place/trial.h"
#include "core/sched/take/action.h"
#include "core/state/fact.h"
#include "core/state/state.h"

#include <stdbool.h>
#include <stdint.h>

/* One pass over one pool, while it is decided. */
struct pass {
    const struct core *core;
    const struct pool *pool;
    const struct input *in;
    struct facts *out;
    struct arena *arena;
    struct trial trial;
    struct turns turns;
    uint64_t work;           /* tasks looked at and instances placed */
    uint32_t placed;         /* instances placed */
    bool stopped;            /* the pass stopped at its budget, or gave up a promise */
    bool again;              /* a further pass may find more after these decisions */
    bool waits;              /* some task goes on waiting */
    int64_t wake_ms;         /* the pool's next wake-up; 0: none */
    const struct task *last; /* the task looked at last */
    const struct first_bound
        *bound; /* quota that the project whose turn it is keeps for one of its tasks */
    struct bounds_above *above; /* quota of departments that is kept for tasks; NULL: none */
    struct hold hold;           /* the holders, and the blocked tasks that may become holders */
    struct action action;       /* evictions for tasks without a place; only with `acts` */
    bool acts;                  /* the pool has actions */
    uint64_t rest_looked;       /* lines that pass_rest() looked at */
    uint32_t rest_at;           /* the line that pass_rest() looks at first */
};

/* What became of the next instances of a task. */
enum outcome {
    OUTCOME_PLACED,
    OUTCOME_BLOCKED, /* no node has room */
    OUTCOME_GATED,   /* a limit or a guarantee of the task's accounts forbids the instances */
    OUTCOME_CAPPED,  /* the cap of the task's user forbids the instances; equal tasks may start */
    OUTCOME_HELD,    /* the start would leave a holder's accounts above their right (rights.h) */
};

/* Chooses the places that are kept for holders, unless they are chosen already or the asker does not fit even while nothing is kept.
 * False: the asker does not fit, and its task is blocked. Choosing places is costly, so the pass waits with it for the first task that
 * would fit. */
bool pass_keep_or_blocked(struct pass *pass, const struct asker *asker, uint32_t count);

/* Did an earlier pass find no place for so many instances of the shape, and has nothing become free since? An eviction of this pass makes
 * room later, so that something may fit now that did not before. */
bool pass_remembers(const struct pass *pass, const struct shape *shape, uint32_t count);

/* Notes that kept places cost something: a task that found no place would have one without them. */
void pass_denied(struct pass *pass, const struct asker *asker, uint32_t count);

/* Do the bounds of accounts and user, and the quota and rights kept for other tasks, allow these amounts? OUTCOME_PLACED: yes. */
enum outcome pass_bounds(struct pass *pass, const struct task *task, const struct lane *lane,
                         const struct vector *amounts);

/* Returns the outcome of a task whose bounds no node can keep (form_open_bound() is false). */
enum outcome pass_outcome_bound(const struct pass *pass, const struct task *task);

/* Does a failure of the task hold for all tasks of its shape? False for a gang with a form that has places: these say in which
 * domain its next instances must be. */
bool pass_form_speaks(const struct shape *shape, const struct task *task, const struct lane *lane);

/* Places the next instances of a gang with a form. Each choice of instances is tried until one finds its places. */
enum outcome pass_form_place(struct pass *pass, const struct task *task, struct lane *lane);

/* Ends the turns early where it is certain that each task without a turn in this pass goes on
 * waiting. Does at once what their turns would do. False: it is not certain, and nothing was done. */
bool pass_rest(struct pass *pass);
