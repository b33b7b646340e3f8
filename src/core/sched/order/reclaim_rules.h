/* reclaim_rules.h - who may take back from whom, between accounts.
 *
 *   may it start?  ─▶  which accounts may give?  ─▶  piece by piece: may this one be taken?  ─▶  is the outcome balanced?
 *   reclaim_rules_start      reclaim_rules_from                  reclaim_rules_take                                reclaim_rules_balanced
 *
 * Two accounts are compared where their paths part: there they are siblings. An account at or below its guarantee loses
 * nothing to its siblings, nor to those of the accounts above it (account_keeps()); a claimant ends within its share; so nobody can take back what was taken (P6).
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/arena.h"
#include "core/model/vector.h"
#include "core/sched/order/account.h"

#include <stdbool.h>
#include <stdint.h>

enum { SATURATION_MILLI_DEFAULT = 1000, SATURATION_MILLI_MAX = 1000000 };

/* A waiting task that would take. */
struct claimant {
    const struct account_pool *pool;
    const struct account_view *account; /* its own, a leaf */
    struct vector request;              /* its next chunk */
    bool preemptible;
    uint32_t
        saturation_milli; /* at least 1,000: how much less saturated than those who pay it must end */
};

enum claim_verdict {
    CLAIM_MAY_START,
    CLAIM_ABOVE_SHARE,     /* with the chunk it would be above its fair share */
    CLAIM_ABOVE_GUARANTEE, /* non-preemptible, and would be above its guarantee */
};

enum reclaim_rule {
    RECLAIM_REFUSED,
    RECLAIM_BY_SHARE,     /* the giver is above its share */
    RECLAIM_BY_GUARANTEE, /* the giver is above its guarantee, the taker within its own */
};

/* May this task cause evictions in other accounts at all? */
enum claim_verdict reclaim_rules_start(const struct claimant *claim);

/* Can anything be taken from `victim` (a leaf)? False is final; true is only worth a closer look. */
bool reclaim_rules_from(const struct claimant *claim, const struct account_view *victim);

/* The dimensions, bit by bit, in which `giver` is above its share while it holds `remaining`. Not those in which it is within its
 * guarantee: a limit set below that stops nothing (P4). */
uint32_t reclaim_rules_above_share(const struct account_pool *pool,
                                   const struct account_view *giver,
                                   const struct vector *remaining);

/* Each rule alone, while `giver` holds `remaining`; `taker` is the claimant's side where the paths part. */
bool reclaim_rules_by_share(const struct account_pool *pool, const struct account_view *giver,
                            const struct vector *remaining);
bool reclaim_rules_by_guarantee(const struct claimant *claim, const struct account_view *taker,
                                const struct account_view *giver, const struct vector *remaining);

/* What a set of victims takes from each account. */
struct losses {
    struct account_loss *at;             /* by account_view.index */
    const struct account_view **touched; /* those that lost something, in order of first loss */
    uint32_t touched_count;
    uint32_t room; /* accounts there are */
    uint32_t dims; /* dimensions in which something was taken, bit by bit */
};

/* No losses yet; `accounts` is the number of views. Lives in the arena. */
void reclaim_rules_losses_init(struct losses *losses, uint32_t accounts, struct arena *arena);

/* Forget them: in time of the accounts touched. */
void reclaim_rules_losses_clear(struct losses *losses);

/* What the account still holds. */
struct vector reclaim_rules_remaining(const struct losses *losses,
                                      const struct account_view *account);

/* Take `piece` from `victim` (a leaf) and from all above it. RECLAIM_REFUSED: it may not be taken, and was not. */
enum reclaim_rule reclaim_rules_take(const struct claimant *claim, struct losses *losses,
                                     const struct account_view *victim, const struct vector *piece);

/* With all losses, at every level of the claimant's path: does it end within its share or less saturated than each sibling that
 * paid; are those left their guarantees if it ends above its own; does non-preemptible work stay within the guarantee? */
bool reclaim_rules_balanced(const struct claimant *claim, const struct losses *losses);
