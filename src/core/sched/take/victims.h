/* victims.h - what can be taken from running tasks, and in which order.
 *
 *   account that would be served last ─▶ its next piece ─▶ that account again, with what was taken so far ─▶ …
 *
 * Nothing is taken here: a search asks for one piece after the other, and says at the end which it took.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/model/task.h"
#include "core/sched/order/account.h"
#include "core/sched/order/reclaim_rules.h"
#include "core/sched/place/trial.h"
#include "core/sched/take/pieces.h"

#include <stdbool.h>
#include <stdint.h>

enum victims_of {
    VICTIMS_OF_OTHERS, /* other accounts that may have to give (reclaim_rules_from) */
    VICTIMS_OF_OWN,    /* the claimant's own account: tasks of lower priority */
    VICTIMS_OF_LOWER,  /* any account: tasks of lower priority, whosever they are */
    VICTIMS_OF_ALL,    /* any account: they are to be moved, not lost */
};

/* Who is moved begins anew. Only those who have just begun are: the wait of one is not worth hours of others. A search that goes
 * from piece to piece ends when it has passed by so many that have run for longer. */
enum { MOVE_RUN_MS_MAX = 5 * 60 * 1000, MOVE_OLD_MAX = 2000 };

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

/* The same search begins anew, in the order for one who needs so many slots (thousandths) of a node: see pieces_cache_compare(). */
void victims_begin_need(struct victims *victims, int64_t need_milli);

/* The same, where only those give who are below the account above the claimant's, of which there must be one; need 0: in the order for
 * anybody. */
void victims_begin_near(struct victims *victims, int64_t need_milli);

/* The next piece in order; NULL: there is no other. */
struct piece *victims_next(struct victims *victims);

/* The piece with which a running instance would go, if the search may have it; else NULL. */
struct piece *victims_piece(struct victims *victims, const struct instance *instance);

/* Has the instance run so briefly that it may be moved? */
bool victims_movable(const struct victims *victims, const struct instance *instance);

/* The most slots (thousandths) that a piece of the account, or of one below it, holds. */
int64_t victims_piece_max(struct victims *victims, const struct account_view *account);

/* When the first piece that is protected by its minimum runtime now will not be any more; INT64_MAX: none was met. */
int64_t victims_wake_ms(const struct victims *victims);
