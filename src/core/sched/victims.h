/* victims.h - what can be taken from running tasks, and in which order.
 *
 *   account that would be served last ─▶ its next piece ─▶ that account again, with what was taken so far ─▶ …
 *
 * A piece is what goes together: an instance above the minimum of its gang, else all that is left of the gang; each instance of
 * a task that is no gang by itself. Inside an account: lowest priority first, instances above a minimum before whole gangs;
 * then `victims: youngest` takes the youngest, `victims: least-loss` what loses least work, of equal ones the youngest.
 *
 * Nothing is taken here: a search asks for one piece after the other, and says at the end which it took.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/sched/reclaim_rules.h"
#include "core/sched/trial.h"

/* What an eviction costs beside the work that is lost: to come down, to wait, to come up again. With it tasks that have just
 * started are compared by what they hold. */
enum { EVICTION_COST_MS = 60000 };

enum victims_of {
    VICTIMS_OF_OTHERS, /* other accounts that may have to give (reclaim_from) */
    VICTIMS_OF_OWN,    /* the claimant's own account: tasks of lower priority */
    VICTIMS_OF_LOWER,  /* any account: tasks of lower priority, whosever they are */
    VICTIMS_OF_ALL,    /* any account: they are to be moved, not lost */
};

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

/* Who asks for pieces. */
struct victims_ask {
    enum victims_of of;
    const struct claimant *claimant;
    const struct task *task; /* the claimant's */
};

struct victims;

/* Nothing is read before the first search. Lives in the trial's arena, over the state the trial is about. */
struct victims *victims_new(struct trial *trial, int64_t now_ms);

/* A new search. The accounts must stay as they are until it ends; `ask` must live as long. */
void victims_begin(struct victims *victims, const struct victims_ask *ask);

/* The next piece in order; NULL: there is no other. */
struct piece *victims_next(struct victims *victims);

/* The most slots (thousandths) that a piece of the account, or of one below it, holds. */
int64_t victims_piece_max(struct victims *victims, const struct account_view *account);

/* When the first piece that is protected by its minimum runtime now will not be any more; INT64_MAX: none was met. */
int64_t victims_wake_ms(const struct victims *victims);

/* The instances of a piece: start with instance NULL; NULL at the end. */
const struct instance *piece_next(const struct core *core, const struct piece *piece,
                                  const struct instance *after);
