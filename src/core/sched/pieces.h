/* pieces.h - what can be taken from the running tasks of one project, in the order in which it goes.
 *
 * A piece is what goes together: an instance above the minimum of its gang, else all that is left of the gang; each instance of
 * a task that is no gang by itself. Lowest priority first, instances above a minimum before whole gangs; then `victims: youngest`
 * takes the youngest, `victims: least-loss` what loses least work, of equal ones the youngest.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/sched/trial.h"

/* What an eviction costs beside the work that is lost: to come down, to wait, to come up again. With it tasks that have just
 * started are compared by what they hold. */
enum { EVICTION_COST_MS = 60000 };

struct piece {
    const struct task *task;
    const struct account_view *account;
    struct vector amounts;
    unsigned __int128 loss; /* work: what it holds times how long it ran */
    int64_t since_ms;       /* when the last of it was placed or started */
    uint32_t index;         /* of the instance; of a whole gang its highest */
    bool whole;             /* all active instances of the task */
    bool extra;             /* above the minimum of its gang */
    bool taken;             /* a decision of this pass has it */
};

/* Those of one project. Only as many are sorted as somebody asks for. */
struct pieces {
    const struct core *core;
    struct arena *arena;
    enum pool_victims by;
    int64_t now_ms;
    struct piece *at; /* the first `sorted` in order, the others a heap of what follows */
    uint32_t count;
    uint32_t room;
    uint32_t sorted;
    uint32_t *heap;       /* places in `at` that are not in order yet */
    struct piece **order; /* the first `sorted` */
    int64_t slots_max;    /* of the largest */
};

/* Add those of a running task. All tasks are added before the first is asked for. */
void pieces_add(struct pieces *pieces, const struct account_view *account, const struct task *task);

/* The one at this place of the order; NULL: there are not so many. */
struct piece *pieces_get(struct pieces *pieces, uint32_t place);

/* Below 0: `a` goes first. Never 0 for two pieces. */
int pieces_compare(enum pool_victims by, const struct piece *a, const struct piece *b);

/* The instances of a piece: start with instance NULL; NULL at the end. */
const struct instance *piece_next(const struct core *core, const struct piece *piece,
                                  const struct instance *after);
