/* reclaim_rules.c - the rules by which an account takes back from other accounts.
 *
 * Surprising: a piece is judged by what the giver holds before the piece is taken. So the giver may end below its share by less than
 * one piece. Without this, a gang of which one part is above the share could never be taken back, because a gang is one piece.
 *
 * This alone would allow an endless circle: a giver that ended below its guarantee takes back from a taker above its guarantee,
 * ends above its own guarantee again, and is taken from again. Two rules prevent the circle. A taker that ends above its guarantee
 * must leave every giver its floor: the work of the giver that fits the giver's guarantee (README.md, S10). A department without a
 * share takes nothing for its projects. The peers lack both rules (docs/dev/deviations.md).
 * SPDX-License-Identifier: Apache-2.0 */
#include "core/sched/order/reclaim_rules.h"

#include "base/must.h"
#include "core/sched/order/fraction.h"

#include <stddef.h>

enum { PIECES_FIRST = 16 }; /* pieces for which the first array of lost pieces has room */

struct account_loss {
    struct vector taken;
    bool touched;
};

struct lost_piece {
    const struct account_view *account; /* the project */
    struct vector amounts;
};

/* Would the account's non-preemptible work, with the claimant's request, be within the guarantee in every dimension? */
static bool fixed_within(const struct claimant *claim, const struct account_view *account)
{
    struct vector fixed = account->fixed;
    vector_add(&fixed, &claim->request);
    return vector_above(&fixed, &account->guaranteed, claim->pool->dims) == 0;
}

/* The dimensions, bit by bit, in which the claimant's account would be above its share with the request. A dimension does not count if
 * the request asks for nothing of it and the account is within its guarantee. The reason: cpu and memory that come with slots are no
 * demand before a node is chosen, so a share computed before the placement can be too small. */
static uint32_t above_share(const struct claimant *claim)
{
    const struct account_view *account = claim->account;
    struct vector held = account->allocated;
    vector_add(&held, &claim->request);
    uint32_t above = vector_above(&held, &account->share, claim->pool->dims);
    for (uint32_t dim = 0; dim < claim->pool->dims; dim++) {
        must(claim->request.at[dim] >= 0);
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

/* Is the giver below its guarantee in every dimension that the claimant requests? Unlimited guarantees do not count. False if the giver
 * has no limited guarantee in a requested dimension. */
static bool below_guarantee(const struct claimant *claim, const struct account_view *giver)
{
    bool below = false;
    for (uint32_t dim = 0; dim < claim->pool->dims; dim++) {
        const int64_t promised = giver->guaranteed.at[dim];
        if (claim->request.at[dim] <= 0 || promised == VECTOR_UNLIMITED) {
            continue;
        }
        must(promised >= 0);
        if (giver->allocated.at[dim] >= promised) {
            return false;
        }
        below = true;
    }
    return below;
}

bool reclaim_rules_surplus(const struct claimant *claim, const struct account_view *victim)
{
    const struct account_view *taker;
    const struct account_view *giver;
    account_diverge(claim->account, victim, &taker, &giver);
    return !account_within_guarantee(claim->pool, taker, &claim->request);
}

bool reclaim_rules_from(const struct claimant *claim, const struct account_view *victim)
{
    const struct account_view *taker;
    const struct account_view *giver;
    account_diverge(claim->account, victim, &taker, &giver);
    must(taker != giver); /* the claimant's project is neither the victim nor an ancestor */
    for (const struct account_view *at = victim; at != giver; at = at->parent) {
        if (account_keeps(claim->pool, at, giver, &at->allocated, &victim->allocated)) {
            return false;
        }
    }
    return reclaim_rules_surplus(claim, victim)
               ? reclaim_rules_by_share(claim->pool, giver, &giver->allocated)
               : !below_guarantee(claim, giver);
}

uint32_t reclaim_rules_above_share(const struct account_pool *pool,
                                   const struct account_view *giver, const struct vector *remaining)
{
    return account_above_right(pool, giver, remaining);
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

void reclaim_rules_losses_init(struct losses *losses, const struct shares *tree, uint32_t accounts,
                               struct arena *arena)
{
    *losses = (struct losses){
        .tree = tree,
        .at = arena_new(arena, struct account_loss, accounts),
        .touched = arena_new(arena, const struct account_view *, accounts),
        .room = accounts,
        .arena = arena,
    };
}

void reclaim_rules_losses_clear(struct losses *losses)
{
    for (uint32_t i = 0; i < losses->touched_count; i++) {
        losses->at[losses->touched[i]->index] = (struct account_loss){.touched = false};
    }
    losses->touched_count = 0;
    losses->piece_count = 0;
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
    if (losses->piece_count == losses->piece_room) {
        losses->piece_room = losses->piece_room == 0 ? PIECES_FIRST : losses->piece_room * 2;
        struct lost_piece *more = arena_new(losses->arena, struct lost_piece, losses->piece_room);
        for (uint32_t i = 0; i < losses->piece_count; i++) {
            more[i] = losses->pieces[i];
        }
        losses->pieces = more;
    }
    losses->pieces[losses->piece_count++] = (struct lost_piece){victim, *piece};
}

void reclaim_rules_joined(struct losses *losses)
{
    must(losses->piece_count > 0);
    losses->piece_count--;
}

static uint32_t dims_of(const struct vector *amounts, uint32_t dims)
{
    const struct vector nothing = {{0}};
    return vector_above(amounts, &nothing, dims);
}

/* May the victim's project, or an account between the project and the giver, keep the piece because the account is within its own right
 * (account_keeps())? Then other accounts below the giver have borrowed, and a piece must come from one of these accounts. */
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

/* Would the taker, with `load` held in one dimension, be above its share and at least as saturated as the giver, which keeps `rest`? */
static bool too_saturated(const struct claimant *claim, int64_t load, int64_t share, int64_t rest,
                          int64_t giver_share)
{
    if (vector_within_at(load, share) || load <= 0 || giver_share <= 0) {
        return false;
    }
    if (share == 0 || rest <= 0) {
        return true;
    }
    must(share > 0);
    const fraction_wide scaled = (fraction_wide)load * claim->saturation_milli;
    const fraction_wide scaled_rest = (fraction_wide)rest * SATURATION_MILLI_DEFAULT;
    const struct fraction taker_ratio = {scaled, (uint64_t)share};
    const struct fraction giver_ratio = {scaled_rest, (uint64_t)giver_share};
    return fraction_compare(taker_ratio, giver_ratio) >= 0;
}

/* Is the outcome balanced between an account on the claimant's path and one sibling that lost something? */
static bool pair_balanced(const struct claimant *claim, const struct losses *losses,
                          const struct account_view *taker, const struct account_view *giver)
{
    must(taker->parent == giver->parent);
    must(taker != giver);
    struct vector load = reclaim_rules_remaining(losses, taker);
    vector_add(&load, &claim->request);
    const struct vector rest = reclaim_rules_remaining(losses, giver);
    const uint32_t dims = losses->dims | dims_of(&claim->request, claim->pool->dims);
    for (uint32_t dim = 0; dim < claim->pool->dims; dim++) {
        /* Amounts within the guarantee that the request does not ask for do not count: see above_share(). */
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

/* ---- the floor of a giver ---- */

bool reclaim_rules_shields(const struct account_pool *pool, const struct account_view *giver,
                           const struct vector *rest, const struct vector *work)
{
    if (account_overcommitted(pool, giver)) {
        uint32_t short_dims = 0;
        for (uint32_t dim = 0; dim < pool->dims; dim++) {
            const int64_t promised = giver->guaranteed.at[dim];
            const bool below = promised != VECTOR_UNLIMITED && rest->at[dim] < promised;
            short_dims |= below && work->at[dim] > 0 ? 1u << dim : 0;
        }
        return short_dims != 0;
    }
    struct vector held = *rest;
    vector_add(&held, work);
    return vector_above(&held, &giver->guaranteed, pool->dims) == 0;
}

/* Would the account be within its guarantee with the amounts that it lost last? */
static bool was_within(const struct account_pool *pool, const struct losses *losses,
                       const struct account_view *account, const struct vector *amounts)
{
    struct vector held = reclaim_rules_remaining(losses, account);
    vector_add(&held, amounts);
    return vector_above(&held, &account->guaranteed, pool->dims) == 0;
}

/* Does a sibling of the account still hold more than its guarantee, in a dimension of these amounts? */
static bool sibling_borrows(const struct account_pool *pool, const struct losses *losses,
                            const struct account_view *account, const struct vector *amounts)
{
    const struct shares *tree = losses->tree;
    const uint32_t dims = dims_of(amounts, pool->dims);
    uint32_t at = tree == NULL ? SHARES_NONE : tree->links[account->parent->index].child_first;
    for (; at != SHARES_NONE; at = tree->links[at].sibling_next) {
        const struct account_view *sibling = &tree->views[at];
        const struct vector rest = reclaim_rules_remaining(losses, sibling);
        if (sibling != account &&
            (vector_above(&rest, &sibling->guaranteed, pool->dims) & dims) != 0) {
            return true;
        }
    }
    return false;
}

/* Below a giver that promised more than its guarantee: did an account within its own guarantee pay, while a sibling that borrows keeps
 * what it borrowed? Then the account could take the same back from the sibling, the giver would be below its guarantee, and the round
 * would begin again. */
static bool borrower_spared(const struct account_pool *pool, const struct losses *losses,
                            const struct lost_piece *piece, const struct account_view *giver)
{
    for (const struct account_view *at = piece->account; at != giver; at = at->parent) {
        if (account_overcommitted(pool, at->parent) &&
            was_within(pool, losses, at, &piece->amounts) &&
            sibling_borrows(pool, losses, at, &piece->amounts)) {
            return true;
        }
    }
    return false;
}

/* Does a loss leave a giver below its floor, or is it a loss of the wrong account below the giver? This counts only if the taker ends
 * above its own guarantee: a claim within a guarantee is served first, and the giver cannot take back from a taker within its
 * guarantee. */
static bool floor_broken(const struct claimant *claim, const struct losses *losses,
                         const struct lost_piece *piece)
{
    const struct account_view *taker;
    const struct account_view *giver;
    account_diverge(claim->account, piece->account, &taker, &giver);
    must(taker != giver);
    struct vector load = reclaim_rules_remaining(losses, taker);
    vector_add(&load, &claim->request);
    if (vector_above(&load, &taker->guaranteed, claim->pool->dims) == 0) {
        return false;
    }
    const struct vector rest = reclaim_rules_remaining(losses, giver);
    return reclaim_rules_shields(claim->pool, giver, &rest, &piece->amounts) ||
           borrower_spared(claim->pool, losses, piece, giver);
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
    for (uint32_t i = 0; i < losses->piece_count; i++) {
        if (floor_broken(claim, losses, &losses->pieces[i])) {
            return false;
        }
    }
    return true;
}
