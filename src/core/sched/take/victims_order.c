/* victims_order.c - which account gives the next piece: the accounts of each level of the tree form a heap.
 *
 * Surprising: an account's place in the heap depends on the pieces that it has given in this search. Each search notes the given
 * amounts in its donors. The account views of the trial stay as they are. Only the account that gave, and the accounts above it, are
 * compared anew: each of them is the first of its heap.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/arena.h"
#include "base/heap.h"
#include "base/must.h"
#include "core/model/vector.h"
#include "core/sched/order/account_order.h"
#include "core/sched/order/shares.h"
#include "core/sched/take/victims_internal.h"

enum { GIVERS_FIRST = 16 };

static const struct shares *shares_of_search(const struct victims *victims)
{
    return victims->trial->tally.shares;
}

/* ---- comparing ---- */

/* Sets the key of a donor that has a candidate. The result: the number by which the account is compared first. */
static uint64_t donor_key(const struct victims *victims, const struct account_view *account,
                          struct donor *donor)
{
    const struct account_pool *pool = &shares_of_search(victims)->pool;
    must(donor->candidate != NULL);
    if (victims->ask->of == VICTIMS_OF_LOWER) {
        return 0; /* the pieces decide, and not the accounts */
    }
    struct vector taken = donor->taken;
    vector_add(&taken, &donor->candidate->amounts);
    const struct account_side side = {account, NULL, &taken};
    account_order_key(pool, &side, &donor->key);
    return account_order_quick(pool, account, &donor->key);
}

/* Does account `a` give before account `b`? The account that is served last gives first. */
static bool gives_before(const struct victims *victims, const struct giver *a,
                         const struct giver *b)
{
    if (a->quick != b->quick) {
        return a->quick > b->quick;
    }
    const struct shares *shares = shares_of_search(victims);
    struct donor *donor_a = victims->seats[a->index].donor;
    struct donor *donor_b = victims->seats[b->index].donor;
    const struct account_view *account_a = &shares->views[a->index];
    const struct account_view *account_b = &shares->views[b->index];
    if (victims->ask->of == VICTIMS_OF_LOWER) {
        const int by =
            pieces_cache_compare((enum pool_victims)victims->pool->victims, victims->need_milli,
                                 donor_a->candidate, donor_b->candidate);
        return by != 0 ? by < 0 : account_a->order < account_b->order;
    }
    return account_order_keys(&shares->pool, account_a, &donor_a->key, account_b, &donor_b->key) >
           0;
}

static void sink(const struct victims *victims, struct givers *givers, uint32_t from)
{
#define GIVES_BEFORE(a, b) gives_before(victims, a, b)
    HEAP_SINK(givers->at, givers->count, from, GIVES_BEFORE);
}

/* ---- the heaps ---- */

static void giver_add(struct victims *victims, struct givers *givers, struct giver giver)
{
    if (givers->count == givers->room) {
        givers->room = givers->room == 0 ? GIVERS_FIRST : givers->room * 2;
        struct giver *more = arena_new(victims->trial->arena, struct giver, givers->room);
        for (uint32_t i = 0; i < givers->count; i++) {
            more[i] = givers->at[i];
        }
        givers->at = more;
    }
    givers->at[givers->count++] = giver;
}

/* The next piece of the accounts in a heap; NULL: none. */
static struct piece *givers_candidate(const struct victims *victims, const struct givers *givers)
{
    return givers->count == 0 ? NULL : victims->seats[givers->at[0].index].donor->candidate;
}

/* The account of the claimant's path among `first` and its siblings, where these can only give by share; NULL: they may give by
 * guarantee, too, or the claimant's path is not among them. */
static const struct account_view *taker_by_share(const struct victims *victims, uint32_t first)
{
    const struct shares *shares = shares_of_search(victims);
    const struct claimant *claimant = victims->ask->claimant;
    if (victims->ask->of != VICTIMS_OF_OTHERS || first == SHARES_NONE) {
        return NULL;
    }
    const struct account_view *taker = claimant->account;
    while (taker != NULL && taker->parent != shares->views[first].parent) {
        taker = taker->parent;
    }
    return taker != NULL && !account_within_guarantee(claimant->pool, taker, &claimant->request)
               ? taker
               : NULL;
}

/* Asks `first` and the siblings behind it for their first pieces. The recursion is as deep as the tree of accounts. */
static void givers_fill(struct victims *victims, uint32_t first, struct givers *givers)
{
    const struct shares *shares = shares_of_search(victims);
    const struct account_view *taker = taker_by_share(victims, first);
    givers->count = 0;
    for (uint32_t at = first; at != SHARES_NONE; at = shares->links[at].sibling_next) {
        const struct account_view *account = &shares->views[at];
        const uint32_t child = shares->links[at].child_first;
        if (taker != NULL && account != taker && shares->rich != NULL && !shares->rich[at]) {
            continue; /* the account holds nothing that the claimant could take */
        }
        struct donor *donor = victims_donor(victims, account);
        if (donor == NULL) {
            continue;
        }
        if (child != SHARES_NONE) {
            givers_fill(victims, child, &donor->below);
        }
        donor->candidate = child == SHARES_NONE ? victims_candidate(victims, account, donor)
                                                : givers_candidate(victims, &donor->below);
        if (donor->candidate != NULL) {
            giver_add(victims, givers, (struct giver){donor_key(victims, account, donor), at});
        }
    }
    for (uint32_t i = givers->count / 2; i > 0; i--) {
        sink(victims, givers, i - 1);
    }
}

/* The account that gave last, and the accounts above it, need a new candidate. */
static void givers_update(struct victims *victims)
{
    for (const struct account_view *at = victims->given; at != victims->below; at = at->parent) {
        must(at != NULL); /* every account that gives is below `victims->below` */
        struct donor *donor = victims->seats[at->index].donor;
        struct givers *givers = at->parent == victims->below
                                    ? &victims->top
                                    : &victims->seats[at->parent->index].donor->below;
        must(givers->at[0].index == at->index);
        donor->candidate = at == victims->given ? victims_candidate(victims, at, donor)
                                                : givers_candidate(victims, &donor->below);
        if (donor->candidate != NULL) {
            givers->at[0].quick = donor_key(victims, at, donor);
        } else {
            givers->at[0] = givers->at[--givers->count];
        }
        sink(victims, givers, 0);
    }
}

/* The search gets the piece. */
static void piece_give(struct victims *victims, const struct piece *piece)
{
    victims->seats[piece->account->index].donor->next++;
    for (const struct account_view *at = piece->account; at != victims->below; at = at->parent) {
        vector_add(&victims->seats[at->index].donor->taken, &piece->amounts);
    }
    victims->given = piece->account;
}

struct piece *victims_order_next(struct victims *victims)
{
    const struct shares *shares = shares_of_search(victims);
    if (!victims->filled) {
        victims->filled = true;
        givers_fill(victims,
                    victims->below == NULL ? shares->top_first
                                           : shares->links[victims->below->index].child_first,
                    &victims->top);
    } else if (victims->given != NULL) {
        givers_update(victims);
    }
    struct piece *piece = givers_candidate(victims, &victims->top);
    victims->given = NULL;
    if (piece != NULL) {
        piece_give(victims, piece);
    }
    return piece;
}
