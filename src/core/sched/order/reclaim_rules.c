/* reclaim_rules.c - taking back between accounts.
 *
 * Surprising: a piece is judged by what the giver holds before the piece is taken, so an account may end below its share by
 * less than one piece. Pieces are whole gangs; else a gang that straddles the share could never be taken back. That opens a
 * way round for ever: a giver that ended below its guarantee may take back from a taker above its own, and borrow again what
 * it is then left with. So who ends above its guarantee must leave the guarantees of those who pay whole, and a department
 * without share takes nothing for its members. The peers lack both rules (docs/dev/deviations.md).
 * SPDX-License-Identifier: Apache-2.0 */
#include "core/sched/order/reclaim_rules.h"

#include "base/must.h"
#include "core/sched/order/fraction.h"

#include <stddef.h>

struct account_loss {
    struct vector taken;
    bool touched;
};

/* Non-preemptible work of the account and what it asks for, within the guarantee in every dimension? */
static bool fixed_within(const struct claimant *claim, const struct account_view *account)
{
    struct vector fixed = account->fixed;
    vector_add(&fixed, &claim->request);
    return vector_above(&fixed, &account->guaranteed, claim->pool->dims) == 0;
}

/* Cpu and memory that come with slots are no demand before they are placed, so a share divided before may be behind: what an
 * account holds within its guarantee without asking for more is its right in any case. */
static uint32_t above_share(const struct claimant *claim)
{
    const struct account_view *account = claim->account;
    struct vector held = account->allocated;
    vector_add(&held, &claim->request);
    uint32_t above = vector_above(&held, &account->share, claim->pool->dims);
    for (uint32_t dim = 0; dim < claim->pool->dims; dim++) {
        if (claim->request.at[dim] == 0 &&
            vector_within_at(held.at[dim], account->guaranteed.at[dim])) {
            above &= ~(1u << dim);
        }
    }
    return above;
}

enum claim_verdict reclaim_rules_start(const struct claimant *claim)
{
    if (above_share(claim) != 0) {
        return CLAIM_ABOVE_SHARE;
    }
    return claim->preemptible || fixed_within(claim, claim->account) ? CLAIM_MAY_START
                                                                     : CLAIM_ABOVE_GUARANTEE;
}

/* Below its guarantee in every dimension that is asked for and in which there is one? */
static bool below_guarantee(const struct claimant *claim, const struct account_view *giver)
{
    bool below = false;
    for (uint32_t dim = 0; dim < claim->pool->dims; dim++) {
        const int64_t promised = giver->guaranteed.at[dim];
        if (claim->request.at[dim] <= 0 || promised == VECTOR_UNLIMITED) {
            continue;
        }
        if (giver->allocated.at[dim] >= promised) {
            return false;
        }
        below = true;
    }
    return below;
}

bool reclaim_rules_from(const struct claimant *claim, const struct account_view *victim)
{
    const struct account_view *taker;
    const struct account_view *giver;
    account_diverge(claim->account, victim, &taker, &giver);
    for (const struct account_view *at = victim; at != giver; at = at->parent) {
        if (account_keeps(claim->pool, at, giver, &at->allocated, &victim->allocated)) {
            return false;
        }
    }
    if (account_within_guarantee(claim->pool, taker, &claim->request)) {
        return !below_guarantee(claim, giver);
    }
    return reclaim_rules_by_share(claim->pool, giver, &giver->allocated);
}

uint32_t reclaim_rules_above_share(const struct account_pool *pool,
                                   const struct account_view *giver, const struct vector *remaining)
{
    return vector_above(remaining, &giver->allocatable, pool->dims) &
           vector_above(remaining, &giver->guaranteed, pool->dims);
}

bool reclaim_rules_by_share(const struct account_pool *pool, const struct account_view *giver,
                            const struct vector *remaining)
{
    return reclaim_rules_above_share(pool, giver, remaining) != 0;
}

bool reclaim_rules_by_guarantee(const struct claimant *claim, const struct account_view *taker,
                                const struct account_view *giver, const struct vector *remaining)
{
    return vector_above(remaining, &giver->guaranteed, claim->pool->dims) != 0 &&
           account_within_guarantee(claim->pool, taker, &claim->request);
}

static enum reclaim_rule rule_of(const struct claimant *claim, const struct account_view *taker,
                                 const struct account_view *giver, const struct vector *remaining)
{
    if (reclaim_rules_by_share(claim->pool, giver, remaining)) {
        return RECLAIM_BY_SHARE;
    }
    return reclaim_rules_by_guarantee(claim, taker, giver, remaining) ? RECLAIM_BY_GUARANTEE
                                                                      : RECLAIM_REFUSED;
}

void reclaim_rules_losses_init(struct losses *losses, uint32_t accounts, struct arena *arena)
{
    *losses = (struct losses){
        .at = arena_new(arena, struct account_loss, accounts),
        .touched = arena_new(arena, const struct account_view *, accounts),
        .room = accounts,
    };
}

void reclaim_rules_losses_clear(struct losses *losses)
{
    for (uint32_t i = 0; i < losses->touched_count; i++) {
        losses->at[losses->touched[i]->index] = (struct account_loss){.touched = false};
    }
    losses->touched_count = 0;
    losses->dims = 0;
}

struct vector reclaim_rules_remaining(const struct losses *losses,
                                      const struct account_view *account)
{
    must(account->index < losses->room);
    struct vector remaining = account->allocated;
    vector_sub(&remaining, &losses->at[account->index].taken);
    return remaining;
}

static void lose(struct losses *losses, const struct account_view *victim,
                 const struct vector *piece)
{
    for (const struct account_view *account = victim; account != NULL; account = account->parent) {
        must(account->index < losses->room);
        struct account_loss *loss = &losses->at[account->index];
        if (!loss->touched) {
            loss->touched = true;
            losses->touched[losses->touched_count++] = account;
        }
        vector_add(&loss->taken, piece);
    }
}

static uint32_t dims_of(const struct vector *amounts, uint32_t dims)
{
    const struct vector nothing = {{0}};
    return vector_above(amounts, &nothing, dims);
}

/* Is the victim, or one between it and the giver, within its guarantee? Then others below the giver borrowed, and they are to
 * pay. */
static bool path_keeps(const struct claimant *claim, const struct losses *losses,
                       const struct account_view *victim, const struct account_view *giver,
                       const struct vector *piece)
{
    for (const struct account_view *at = victim; at != giver; at = at->parent) {
        const struct vector remaining = reclaim_rules_remaining(losses, at);
        if (account_keeps(claim->pool, at, giver, &remaining, piece)) {
            return true;
        }
    }
    return false;
}

enum reclaim_rule reclaim_rules_take(const struct claimant *claim, struct losses *losses,
                                     const struct account_view *victim, const struct vector *piece)
{
    must(victim != claim->account);
    const struct account_view *taker;
    const struct account_view *giver;
    account_diverge(claim->account, victim, &taker, &giver);
    const struct vector remaining = reclaim_rules_remaining(losses, giver);
    if (path_keeps(claim, losses, victim, giver, piece)) {
        return RECLAIM_REFUSED;
    }
    const enum reclaim_rule rule = rule_of(claim, taker, giver, &remaining);
    if (rule != RECLAIM_REFUSED) {
        lose(losses, victim, piece);
        losses->dims |= dims_of(piece, claim->pool->dims);
    }
    return rule;
}

/* Would `taker`, holding `load`, be above its share and as saturated as `giver`, which is left with `rest`? One dimension. */
static bool too_saturated(const struct claimant *claim, int64_t load, int64_t share, int64_t rest,
                          int64_t giver_share)
{
    if (vector_within_at(load, share) || load <= 0 || giver_share <= 0) {
        return false;
    }
    if (share == 0 || rest <= 0) {
        return true;
    }
    const fraction_wide scaled = (fraction_wide)load * claim->saturation_milli;
    const fraction_wide scaled_rest = (fraction_wide)rest * SATURATION_MILLI_DEFAULT;
    const struct fraction taker_ratio = {scaled, (uint64_t)share};
    const struct fraction giver_ratio = {scaled_rest, (uint64_t)giver_share};
    return fraction_compare(taker_ratio, giver_ratio) >= 0;
}

/* Did the losses bring the giver below its guarantee, or further below it? */
static bool guarantee_broken(const struct claimant *claim, const struct account_view *giver,
                             const struct vector *rest)
{
    for (uint32_t dim = 0; dim < claim->pool->dims; dim++) {
        const int64_t held = giver->allocated.at[dim];
        const int64_t promised = giver->guaranteed.at[dim];
        const int64_t kept = vector_within_at(held, promised) ? held : promised;
        /* Unlimited is what is not accounted for, no promise. */
        if (promised != VECTOR_UNLIMITED && rest->at[dim] < kept) {
            return true;
        }
    }
    return false;
}

/* One level of the claimant's path against one sibling that paid. */
static bool pair_balanced(const struct claimant *claim, const struct losses *losses,
                          const struct account_view *taker, const struct account_view *giver)
{
    struct vector load = reclaim_rules_remaining(losses, taker);
    vector_add(&load, &claim->request);
    const struct vector rest = reclaim_rules_remaining(losses, giver);
    if (vector_above(&load, &taker->guaranteed, claim->pool->dims) != 0 &&
        guarantee_broken(claim, giver, &rest)) {
        return false;
    }
    const uint32_t dims = losses->dims | dims_of(&claim->request, claim->pool->dims);
    for (uint32_t dim = 0; dim < claim->pool->dims; dim++) {
        /* What it did not ask for and holds within its guarantee is no reason: see above_share(). */
        const bool right = claim->request.at[dim] == 0 &&
                           vector_within_at(load.at[dim], taker->guaranteed.at[dim]);
        const bool counts = (dims >> dim & 1u) != 0 && !right;
        const bool without_share =
            taker != claim->account && taker->share.at[dim] == 0 && load.at[dim] > 0;
        if (counts && (without_share || too_saturated(claim, load.at[dim], taker->share.at[dim],
                                                      rest.at[dim], giver->share.at[dim]))) {
            return false;
        }
    }
    return true;
}

static bool level_balanced(const struct claimant *claim, const struct losses *losses,
                           const struct account_view *taker)
{
    for (uint32_t i = 0; i < losses->touched_count; i++) {
        const struct account_view *giver = losses->touched[i];
        const bool sibling = giver != taker && giver->parent == taker->parent;
        if (sibling && !pair_balanced(claim, losses, taker, giver)) {
            return false;
        }
    }
    return claim->preemptible || fixed_within(claim, taker);
}

bool reclaim_rules_balanced(const struct claimant *claim, const struct losses *losses)
{
    must(claim->saturation_milli >= SATURATION_MILLI_DEFAULT);
    must(claim->saturation_milli <= SATURATION_MILLI_MAX);
    for (const struct account_view *taker = claim->account; taker != NULL; taker = taker->parent) {
        if (!level_balanced(claim, losses, taker)) {
            return false;
        }
    }
    return true;
}
