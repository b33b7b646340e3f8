/* victims_internal.h - the accounts of a search for victims: shared by victims.c, victims_order.c and victims_piece.c.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/model/pool.h"
#include "core/model/task.h"
#include "core/model/vector.h"
#include "core/sched/order/account.h"
#include "core/sched/order/account_order.h"
#include "core/sched/place/trial.h"
#include "core/sched/take/pieces.h"
#include "core/sched/take/victims.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The pieces of a project, for all searches of the pass. */
struct leaf {
    struct pieces pieces;  /* in the order for any claimant */
    struct pieces by_need; /* in the order for the last need asked for; need 0: not begun */
    uint32_t head;         /* all pieces before this place of `pieces` are taken */
    /* All pieces before this place of `pieces` are taken, within their turn, or too dear for the loss budget. */
    uint32_t turn_head;
};

/* An account that gives, in the heap of its siblings. Most comparisons read only `quick`, and so no donor. */
struct giver {
    uint64_t
        quick; /* an account with a larger number gives first; with equal numbers the donors decide */
    uint32_t index; /* of the account's view */
};

/* The siblings that have a piece to give, in a heap: the account that gives next is the first. */
struct givers {
    struct giver *at;
    uint32_t count;
    uint32_t room;
};

/* An account of which the search under way may take pieces. */
struct donor {
    uint32_t next; /* of a project: the place in its order of the next piece to look at */
    int64_t min_runtime_ms;
    bool turns;              /* the turn of a task protects its pieces from this search */
    struct piece *candidate; /* the next piece of the account, or of accounts below; NULL: none */
    struct vector taken;     /* amounts of the pieces that the account gave in this search */
    struct account_order_key key; /* of the account without `taken` and `candidate` */
    struct givers below;          /* of a department: its children that have a piece to give */
};

/* What a pass knows of an account. Members other than `search` and `closed` are made at their first use. */
struct donor_seat {
    uint64_t search; /* the search for which `closed` is known and `donor` was begun */
    bool closed;     /* the search may take no piece of this account */
    struct donor *donor;
    struct leaf *leaf;
};

struct victims {
    struct trial *trial;
    const struct pool *pool;
    int64_t now_ms;
    int64_t wake_ms;
    bool moment;              /* a search met a piece that started in this very moment */
    struct donor_seat *seats; /* by account_view.index */
    struct givers top;        /* the top accounts of the tree that the search asks */
    struct piece_cache cache;
    size_t seen;                 /* so many decisions of the trial were looked at for `growing` */
    const struct task **growing; /* running gangs that the trial lets grow */
    uint32_t growing_count;
    uint32_t growing_room;
    /* the number of the search under way; the members below belong to that search */
    uint64_t search;
    const struct victims_ask *ask;
    const struct account_view *below; /* only accounts below this one give; NULL: all accounts */
    int64_t need_milli;               /* slots needed on one node; 0: the order for any claimant */
    uint32_t old; /* pieces that were skipped because they have run for too long to be moved */
    bool filled;  /* all accounts were asked for their first piece */
    const struct account_view *given; /* the project of the piece given last; NULL: none */
};

/* The account in the search under way; NULL: the search may take no piece of the account. */
struct donor *victims_donor(struct victims *victims, const struct account_view *account);

/* The next piece of a project that the search may take; NULL: none. */
struct piece *victims_candidate(struct victims *victims, const struct account_view *account,
                                struct donor *donor);

/* The next piece of the account that gives next; NULL: no account has a piece to give. */
struct piece *victims_order_next(struct victims *victims);

/* Is the task a gang of which the trial starts further instances? */
bool victims_piece_growing(const struct victims *victims, const struct task *task);

/* Is the search for tasks of lower priority, and does this piece have no lower priority than the claimant? */
bool victims_piece_important(const struct victims *victims, const struct piece *piece);

/* Would the piece have to move, and has it run for too long? */
bool victims_piece_old(const struct victims *victims, const struct piece *piece);

/* Is the piece's turn over, and can the loss budget pay for the piece? */
bool victims_piece_due(struct victims *victims, const struct donor *donor, struct piece *piece);

/* May the search take the piece? */
bool victims_piece_eligible(struct victims *victims, const struct donor *donor,
                            struct piece *piece);
