/* victims.c - which accounts a search may ask, and which of their pieces come next. victims_order.c says which account gives next.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core/sched/take/victims.h"

#include "base/arena.h"
#include "base/must.h"
#include "core/model/bucket.h"
#include "core/model/instance.h"
#include "core/model/oindex.h"
#include "core/model/pool.h"
#include "core/model/spec.h"
#include "core/model/vector.h"
#include "core/sched/keep/budget.h"
#include "core/sched/order/runtime.h"
#include "core/sched/order/shares.h"
#include "core/sched/order/tally.h"
#include "core/sched/take/victims_internal.h"
#include "core/state/key.h"
#include "core/state/query.h"
#include "core/state/state.h"

enum { GROWING_FIRST = 8 };

static void growing_add(struct victims *victims, const struct task *task)
{
    if (victims_piece_growing(victims, task)) {
        return;
    }
    if (victims->growing_count == victims->growing_room) {
        victims->growing_room =
            victims->growing_room == 0 ? GROWING_FIRST : victims->growing_room * 2;
        const struct task **more =
            arena_new(victims->trial->arena, const struct task *, victims->growing_room);
        for (uint32_t i = 0; i < victims->growing_count; i++) {
            more[i] = victims->growing[i];
        }
        victims->growing = more;
    }
    victims->growing[victims->growing_count++] = task;
}

void victims_refresh(struct victims *victims)
{
    const struct trial *trial = victims->trial;
    must(victims->seen <= trial->count);
    for (; victims->seen < trial->count; victims->seen++) {
        const struct decision *decision = &trial->decisions[victims->seen];
        if (decision->kind == DECISION_START && decision->task->gang &&
            decision->task->active_count > 0) {
            must(decision->task->pool.v == trial->pool.v);
            growing_add(victims, decision->task);
        }
    }
}

struct victims *victims_new(struct trial *trial, int64_t now_ms)
{
    struct victims *victims = arena_new(trial->arena, struct victims, 1);
    must(trial->tally.shares != NULL);
    const uint32_t count = trial->tally.shares->count;
    *victims = (struct victims){
        .trial = trial,
        .pool = query_pool(trial->core, trial->pool),
        .now_ms = now_ms,
        .wake_ms = INT64_MAX,
        .seats = arena_new(trial->arena, struct donor_seat, count),
    };
    victims->cache = (struct piece_cache){
        .core = trial->core,
        .arena = trial->arena,
        .pool = trial->pool,
        .by = (enum pool_victims)victims->pool->victims,
        .now_ms = now_ms,
    };
    victims_refresh(victims);
    return victims;
}

int64_t victims_wake_ms(const struct victims *victims)
{
    return victims->wake_ms;
}

bool victims_moment(const struct victims *victims)
{
    return victims->moment;
}

/* ---- the pieces of a project ---- */

static struct leaf *leaf_of(struct victims *victims, const struct account_view *account)
{
    must(account->index < victims->trial->tally.shares->count);
    struct donor_seat *seat = &victims->seats[account->index];
    if (seat->leaf == NULL) {
        seat->leaf = arena_new(victims->trial->arena, struct leaf, 1);
        pieces_init(&seat->leaf->pieces, &victims->cache, account,
                    victims->trial->tally.shares->links[account->index].id, 0);
    }
    return seat->leaf;
}

/* The pieces of the project in the order that the search asks for. */
static struct pieces *leaf_pieces(struct victims *victims, const struct account_view *account)
{
    struct leaf *leaf = leaf_of(victims, account);
    must(victims->need_milli >= 0);
    if (victims->need_milli == 0) {
        return &leaf->pieces;
    }
    if (leaf->by_need.need_milli != victims->need_milli) {
        pieces_init(&leaf->by_need, &victims->cache, account,
                    victims->trial->tally.shares->links[account->index].id, victims->need_milli);
    }
    return &leaf->by_need;
}

/* The recursion is as deep as the tree of accounts. */
int64_t victims_piece_max(struct victims *victims, const struct account_view *account)
{
    const struct shares *shares = victims->trial->tally.shares;
    must(account->index < shares->count);
    uint32_t at = shares->links[account->index].child_first;
    if (at == SHARES_NONE) {
        return pieces_slots_max(&leaf_of(victims, account)->pieces);
    }
    int64_t most = 0;
    for (; at != SHARES_NONE; at = shares->links[at].sibling_next) {
        const int64_t below = victims_piece_max(victims, &shares->views[at]);
        most = below > most ? below : most;
    }
    return most;
}

/* ---- one search ---- */

/* Begins a search. No account was asked yet. */
static void search_begin(struct victims *victims, int64_t need_milli)
{
    victims->search++;
    victims->need_milli = need_milli;
    victims->filled = false;
    victims->given = NULL;
}

void victims_begin(struct victims *victims, const struct victims_ask *ask)
{
    search_begin(victims, 0);
    victims->ask = ask;
    victims->below = NULL;
    victims->old = 0;
}

void victims_begin_need(struct victims *victims, int64_t need_milli)
{
    must(need_milli > 0);
    search_begin(victims, need_milli);
}

void victims_begin_near(struct victims *victims, int64_t need_milli)
{
    must(need_milli >= 0);
    search_begin(victims, need_milli);
    victims->below = victims->ask->claimant->account->parent;
    must(victims->below != NULL);
}

bool victims_by_guarantee(const struct claimant *claimant, const struct account_view *account)
{
    const struct account_view *taker;
    const struct account_view *giver;
    account_diverge(claimant->account, account, &taker, &giver);
    return account_within_guarantee(claimant->pool, claimant->account, &claimant->request) ||
           account_within_guarantee(claimant->pool, taker, &claimant->request);
}

/* Does the account hold more than its right, so that its first piece could be lost? Other accounts could only have pieces moved, and
 * moving is for consolidation. */
static bool may_lose(const struct claimant *claimant, const struct account_view *account)
{
    const struct account_view *taker;
    const struct account_view *giver;
    account_diverge(claimant->account, account, &taker, &giver);
    must(taker != giver); /* the claimant's own account never gives by reclaim */
    return reclaim_rules_by_share(claimant->pool, giver, &giver->allocated) ||
           reclaim_rules_by_guarantee(claimant, taker, giver, &giver->allocated);
}

/* May the search take no piece of this account? A department is open: its projects are asked. */
static bool account_closed(const struct victims_ask *ask, const struct account_view *account,
                           bool project)
{
    if (!project) {
        return false;
    }
    switch (ask->of) {
    case VICTIMS_OF_OTHERS:
        return account == ask->claimant->account || !reclaim_rules_from(ask->claimant, account) ||
               !may_lose(ask->claimant, account);
    case VICTIMS_OF_OWN:
        return account != ask->claimant->account;
    case VICTIMS_OF_LOWER:
    case VICTIMS_OF_ALL:
        break;
    }
    return false;
}

/* How long a piece of the account is safe from this search, from its start on. A protection from claims on surplus alone belongs here,
 * in the case of other accounts: reclaim_rules_surplus() tells these claims from claims on a guarantee. */
static int64_t min_runtime_ms(const struct victims *victims, const struct account_view *account)
{
    switch (victims->ask->of) {
    case VICTIMS_OF_OTHERS:
        return runtime_min_reclaim_ms(RECLAIM_PROTECTION_LCA, victims->ask->claimant->account,
                                      account, victims->pool->reclaim_min_runtime_ms);
    case VICTIMS_OF_OWN:
    case VICTIMS_OF_LOWER:
        return runtime_min_preempt_ms(account, victims->pool->preempt_min_runtime_ms);
    case VICTIMS_OF_ALL:
        break;
    }
    return 0;
}

/* Is the account below `victims->below`, or the account itself? True for every account where `below` is NULL. */
static bool is_near(const struct victims *victims, const struct account_view *account)
{
    const struct account_view *at = account;
    while (at != NULL && at != victims->below) {
        at = at->parent;
    }
    return at == victims->below;
}

/* Are all instances of the project within their turn? */
static bool all_in_turn(struct victims *victims, const struct account_view *account)
{
    const struct trial *trial = victims->trial;
    const uint64_t own = ACCOUNT_KEY(trial->pool, trial->tally.shares->links[account->index].id);
    struct okey key = {{own, 0, 0, 0}};
    if (!oindex_from(&trial->core->orders[ORDER_ACCOUNT_BEGUN], key, &key) || key.at[0] != own) {
        return true;
    }
    const int64_t free_ms = (int64_t)key.at[1] + victims->pool->turn_ms;
    if (free_ms <= victims->now_ms) {
        return false;
    }
    victims->wake_ms = free_ms < victims->wake_ms ? free_ms : victims->wake_ms;
    return true;
}

/* Begins the donor of a project anew. False: all its pieces are within their turn. */
static bool project_begin(struct victims *victims, const struct account_view *account,
                          struct donor *donor)
{
    donor->min_runtime_ms = min_runtime_ms(victims, account);
    donor->turns = victims->pool->turn_ms > 0 && victims->ask->of == VICTIMS_OF_OTHERS &&
                   !victims_by_guarantee(victims->ask->claimant, account);
    donor->next = 0;
    if (donor->turns && all_in_turn(victims, account)) {
        return false;
    }
    if (victims->need_milli == 0) {
        const struct leaf *leaf = leaf_of(victims, account);
        donor->next = donor->turns ? leaf->turn_head : leaf->head;
    }
    return true;
}

struct donor *victims_donor(struct victims *victims, const struct account_view *account)
{
    const struct shares *shares = victims->trial->tally.shares;
    must(account->index < shares->count);
    struct donor_seat *seat = &victims->seats[account->index];
    if (seat->search != victims->search) {
        const bool project = shares->links[account->index].child_first == SHARES_NONE;
        seat->search = victims->search;
        seat->closed = !is_near(victims, account) || account_closed(victims->ask, account, project);
        if (!seat->closed) {
            seat->donor = seat->donor != NULL ? seat->donor
                                              : arena_new(victims->trial->arena, struct donor, 1);
            seat->donor->taken = (struct vector){{0}};
            seat->donor->candidate = NULL;
            seat->closed = project && !project_begin(victims, account, seat->donor);
        }
    }
    return seat->closed ? NULL : seat->donor;
}

bool victims_movable(const struct victims *victims, const struct instance *instance)
{
    const int64_t since_ms =
        instance->state == INSTANCE_RUNNING ? instance->started_ms : instance->allocated_ms;
    return victims->now_ms - since_ms <= MOVE_RUN_MS_MAX;
}

struct piece *victims_piece(struct victims *victims, const struct instance *instance)
{
    const struct task *task = query_task(victims->trial->core, instance->task);
    must(task != NULL);
    const struct account_view *account = tally_view(&victims->trial->tally, task);
    const struct donor *donor = victims_donor(victims, account);
    if (donor == NULL) {
        return NULL;
    }
    struct piece *piece = pieces_cache_of(&victims->cache, account, instance);
    return piece == NULL || victims_piece_important(victims, piece) ||
                   !victims_piece_eligible(victims, donor, piece)
               ? NULL
               : piece;
}

struct piece *victims_candidate(struct victims *victims, const struct account_view *account,
                                struct donor *donor)
{
    must(victims->seats[account->index].search == victims->search);
    struct leaf *leaf = leaf_of(victims, account);
    struct pieces *pieces = leaf_pieces(victims, account);
    struct piece *piece;
    while (pieces == &leaf->pieces && (piece = pieces_get(pieces, leaf->head)) != NULL &&
           piece->taken) {
        leaf->head++;
    }
    while (pieces == &leaf->pieces && donor->turns && donor->next == leaf->turn_head &&
           (piece = pieces_get(pieces, leaf->turn_head)) != NULL &&
           (piece->taken || !victims_piece_due(victims, donor, piece))) {
        leaf->turn_head++;
        donor->next++;
    }
    while ((piece = pieces_get(pieces, donor->next)) != NULL &&
           !victims_piece_important(victims, piece)) {
        if (victims_piece_eligible(victims, donor, piece)) {
            return piece;
        }
        victims->old += victims_piece_old(victims, piece);
        if (victims->old > MOVE_OLD_MAX) {
            return NULL;
        }
        donor->next++;
    }
    return NULL;
}

struct piece *victims_next(struct victims *victims)
{
    must(victims->ask != NULL); /* a search was begun */
    if (victims->ask->of != VICTIMS_OF_OWN) {
        return victims_order_next(victims);
    }
    const struct account_view *own = victims->ask->claimant->account;
    struct donor *donor = victims_donor(victims, own);
    struct piece *piece = victims_candidate(victims, own, donor);
    donor->next += piece != NULL;
    return piece;
}
