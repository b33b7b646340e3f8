/* reclaim_rules.h - which account may take back from which other account.
 *
 *   reclaim_rules_start      may the claimant cause evictions in other accounts?
 *   reclaim_rules_from       which accounts may give?
 *   reclaim_rules_take       may this piece be taken? (for each piece of the set of victims)
 *   reclaim_rules_balanced   is the outcome balanced?
 *
 * Two accounts are compared at the two siblings where their paths diverge. An account within its guarantee loses nothing to its
 * siblings, nor to siblings of its ancestors (account_keeps()). A claimant ends within its share. So no account can take back what was
 * taken from it (P6).
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/arena.h"
#include "core/model/vector.h"
#include "core/sched/order/account.h"
#include "core/sched/order/shares.h"

#include <stdbool.h>
#include <stdint.h>

enum { SATURATION_MILLI_DEFAULT = 1000, SATURATION_MILLI_MAX = 1000000 };

/* A waiting task that would take places from other accounts. */
struct claimant {
    const struct account_pool *pool;
    const struct account_view *account; /* the project of the task */
    struct vector request;              /* the next chunk of the task */
    bool preemptible;
    /* The taker's saturation (held / share), times this number of thousandths, must end below the giver's. At least 1,000. */
    uint32_t saturation_milli;
};

enum claim_verdict {
    CLAIM_MAY_START,
    CLAIM_ABOVE_SHARE,     /* the chunk would bring the account above its fair share */
    CLAIM_ABOVE_GUARANTEE, /* the non-preemptible chunk would bring the account above its guarantee */
};

enum reclaim_rule {
    RECLAIM_REFUSED,
    RECLAIM_BY_SHARE,     /* the giver is above its share */
    RECLAIM_BY_GUARANTEE, /* the giver is above its guarantee, the taker within its guarantee */
};

/* May the claimant cause evictions in other accounts at all? */
enum claim_verdict reclaim_rules_start(const struct claimant *claim);

/* Does the claim on the project `victim` rest on surplus? False: the claimant's account stays within its guarantee where the two paths
 * diverge, so the claim rests on that guarantee. */
bool reclaim_rules_surplus(const struct claimant *claim, const struct account_view *victim);

/* Can anything be taken from the project `victim`? False: nothing can. True: reclaim_rules_take() may still refuse each piece. */
bool reclaim_rules_from(const struct claimant *claim, const struct account_view *victim);

/* The dimensions, bit by bit, in which `giver` is above its allocatable amount and above its guarantee while `giver` holds `remaining`.
 * The guarantee counts by itself because a limit below the guarantee lowers the allocatable amount, but not the right (P4). */
uint32_t reclaim_rules_above_share(const struct account_pool *pool,
                                   const struct account_view *giver,
                                   const struct vector *remaining);

/* Does this one rule allow to take from `giver` while `giver` holds `remaining`? `taker` is the sibling of `giver` on the claimant's path. */
bool reclaim_rules_by_share(const struct account_pool *pool, const struct account_view *giver,
                            const struct vector *remaining);
bool reclaim_rules_by_guarantee(const struct claimant *claim, const struct account_view *taker,
                                const struct account_view *giver, const struct vector *remaining);

/* What a set of victims takes from each account. */
struct losses {
    struct account_loss *at; /* by account_view.index */
    const struct account_view *
        *touched; /* accounts that lost something, in the order of their first losses */
    uint32_t touched_count;
    const struct shares *
        tree; /* says who the siblings of an account are; NULL: no account has siblings that count */
    uint32_t room; /* number of accounts */
    uint32_t dims; /* dimensions in which something was taken, bit by bit */
    struct lost_piece
        *pieces; /* the pieces taken, without those that reclaim_rules_joined() left out */
    uint32_t piece_count;
    uint32_t piece_room;
    struct arena *arena;
};

/* Makes an empty set of losses in the arena. `accounts` is the number of account views. `tree` may be NULL: the rule about siblings that
 * borrow (reclaim_rules_balanced()) is the only one that reads it. */
void reclaim_rules_losses_init(struct losses *losses, const struct shares *tree, uint32_t accounts,
                               struct arena *arena);

/* Removes all losses. The cost grows with the number of accounts that lost something. */
void reclaim_rules_losses_clear(struct losses *losses);

/* What the account still holds after its losses. */
struct vector reclaim_rules_remaining(const struct losses *losses,
                                      const struct account_view *account);

/* Takes `piece` from the project `victim` and from all its ancestors. Returns the rule that allows the loss. RECLAIM_REFUSED: no rule
 * allows the loss, and nothing was taken. */
enum reclaim_rule reclaim_rules_take(const struct claimant *claim, struct losses *losses,
                                     const struct account_view *victim, const struct vector *piece);

/* Leaves the piece that was taken last out of `losses->pieces`. The instances of this piece can
 * start again only together with a larger piece, which is lost and counted as well. */
void reclaim_rules_joined(struct losses *losses);

/* Does the guarantee of `giver` shield this work, while `giver` holds `rest`? The work fits the guarantee beside `rest`. Where `giver`
 * promised its children more than its guarantee, any work counts while `rest` is below the guarantee: such children take from each
 * other, so `rest` may become less without any loss to others. */
bool reclaim_rules_shields(const struct account_pool *pool, const struct account_view *giver,
                           const struct vector *rest, const struct vector *work);

/* Is the outcome of all losses balanced? Each account on the claimant's path must keep these rules:
 * 1. The account ends within its share, or less saturated than each sibling that lost something.
 * 2. An account that ends above its guarantee takes no piece that a sibling's guarantee shields. If the sibling promised its children
 *    more than its own guarantee, the children are asked as well: while one child holds more than its guarantee, no other child loses
 *    a piece that the other child's guarantee shields.
 * 3. Non-preemptible work of the account stays within the guarantee. */
bool reclaim_rules_balanced(const struct claimant *claim, const struct losses *losses);
