/* pass_internal.h - a pass under way: shared by pass.c and pass_form.c.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/arena.h"
#include "core/model/input.h"
#include "core/model/pool.h"
#include "core/model/shape.h"
#include "core/model/task.h"
#include "core/model/vector.h"
#include "core/sched/keep/blocked.h"
#include "core/sched/keep/first_bound.h"
#include "core/sched/order/queue.h"
#include "core/sched/order/turns.h"
#include "core/sched/place/overlay.h"
#include "core/sched/place/trial.h"
#include "core/state/fact.h"
#include "core/state/state.h"

#include <stdbool.h>
#include <stdint.h>

struct pass {
    const struct core *core;
    const struct pool *pool;
    const struct input *in;
    struct facts *out;
    struct arena *arena;
    struct trial trial;
    struct turns turns;
    uint64_t work;
    uint32_t placed;
    bool stopped;                    /* at the budget */
    bool again;                      /* what is decided here may let others take something */
    bool emptied;                    /* all that waited of a project start */
    int64_t wake_ms;                 /* when somebody may take what he may not yet; 0: nobody */
    const struct task *last;         /* the task looked at last */
    const struct first_bound *bound; /* of the project whose turn it is */
    struct bounds_above *above;      /* of the accounts above projects */
    struct blocked waiting;
};

/* What became of the next instances of a task. */
enum outcome {
    OUTCOME_PLACED,
    OUTCOME_BLOCKED, /* no room */
    OUTCOME_GATED,   /* its accounts may not have more */
    OUTCOME_CAPPED,  /* its user may not have more */
    OUTCOME_HELD,    /* the holder of a reservation would be above its right */
};

/* Choosing the places to keep looks at what has changed: done when the first task comes that would fit. False: it does not. */
bool pass_keep_or_blocked(struct pass *pass, const struct asker *asker, uint32_t count);

/* May the task have so much, as far as accounts are concerned? OUTCOME_PLACED: yes. */
enum outcome pass_bounds(struct pass *pass, const struct task *task, const struct lane *lane,
                         const struct vector *amounts);

/* Could some node, empty, take these instances within the bounds of their accounts? If not, no room helps: what is to be said then. */
bool pass_bound_allows(const struct pass *pass, const struct asker *asker, uint32_t count);
enum outcome pass_outcome_bound(const struct pass *pass, const struct task *task);

/* Is what is found for it true for its shape? A gang that has grown has places of its own to go to. */
bool pass_form_speaks(const struct shape *shape, const struct task *task, const struct lane *lane);

/* The next instances of a gang with a form. */
enum outcome pass_form_place(struct pass *pass, const struct task *task, struct lane *lane);
