/* victims.h - the pieces that a search for victims may take, in order.
 *
 *   the account that would be served last ─▶ its next piece ─▶ the accounts compared anew, less the pieces given so far ─▶ …
 *
 * Giving a piece to a search evicts nothing. The search marks a piece as `taken` when its decision is in the trial.
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
    VICTIMS_OF_OTHERS, /* reclaim: other accounts, as reclaim_rules_from() allows */
    VICTIMS_OF_OWN,    /* preemption: tasks of lower priority in the claimant's account */
    /* preemption under policy `priority`: tasks of lower priority in any account, and tasks of the same priority that a move put
     * behind the claimant in the queue */
    VICTIMS_OF_LOWER,
    VICTIMS_OF_ALL, /* consolidation: tasks of any account, which are moved and not lost */
};

/* A moved task is stopped and started again. Only tasks that have run for at most MOVE_RUN_MS_MAX are moved: the wait of
 * one task is not worth hours of work of others. A search from piece to piece ends after MOVE_OLD_MAX pieces that ran for longer. */
enum { MOVE_RUN_MS_MAX = 5 * 60 * 1000, MOVE_OLD_MAX = 2000 };

/* For which claimant the search looks for pieces, and of which accounts. */
struct victims_ask {
    enum victims_of of;
    const struct claimant *claimant;
    const struct task *task; /* of the claimant */
};

struct victims;

/* The pieces of the trial's pool at `now_ms`. Reads no piece yet. The result lives in the trial's arena. */
struct victims *victims_new(struct trial *trial, int64_t now_ms);

/* Reads again which running gangs the trial lets grow. */
void victims_refresh(struct victims *victims);

/* Begins a search. The trial's accounts must not change until the search ends; `ask` must live as long. */
void victims_begin(struct victims *victims, const struct victims_ask *ask);

/* Begins the search again, in the order for a claimant that needs `need_milli` slots (thousandths) of a node, above 0: see
 * pieces_cache_compare(). */
void victims_begin_need(struct victims *victims, int64_t need_milli);

/* Begins the search again. Victims come only from accounts below the parent of the claimant's account. The claimant's account must
 * have a parent. A need of 0 asks for the order that holds for any claimant. */
void victims_begin_near(struct victims *victims, int64_t need_milli);

/* The next piece in order; NULL: the search has seen all pieces. */
struct piece *victims_next(struct victims *victims);

/* The piece with which a running instance would leave; NULL: the search may not take that piece. */
struct piece *victims_piece(struct victims *victims, const struct instance *instance);

/* Has the instance run for at most MOVE_RUN_MS_MAX, so that consolidation may move the instance? */
bool victims_movable(const struct victims *victims, const struct instance *instance);

/* An upper bound on the slots (thousandths) of a piece of the account or of an account below. */
int64_t victims_piece_max(struct victims *victims, const struct account_view *account);

/* Does a guarantee ask for pieces of `account`? The paths of the claimant and of `account` up to the root meet; the claimant's account
 * just below that point, or the claimant's project, must be within its guarantee with the request. Then neither turns nor the loss
 * budget protect the pieces of `account`. */
bool victims_by_guarantee(const struct claimant *claimant, const struct account_view *account);

/* Sets `piece->cost` and `piece->old`. */
void victims_piece_cost(const struct victims *victims, struct piece *piece);

/* When the first minimum runtime ends that protects a piece which a search met; INT64_MAX: searches met no protected piece. */
int64_t victims_wake_ms(const struct victims *victims);

/* Did a search meet a piece that only its start in this very moment protects? */
bool victims_moment(const struct victims *victims);
