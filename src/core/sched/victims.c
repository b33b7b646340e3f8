/* victims.c - pieces of running tasks, sorted within an account once a pass; a tournament between accounts for each search.
 *
 * Surprising: which account gives next depends on what it has given in this search, but only by its dominant share
 * (account_order.h); so the seats of the tree keep what was taken, and the views stay as they are.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core/sched/victims.h"

#include "base/must.h"
#include "core/core_internal.h"
#include "core/sched/account_order.h"
#include "core/sched/runtime.h"

#include <stdlib.h>

enum { PIECES_FIRST = 16 };

/* The pieces of one project. */
struct leaf {
    bool known;
    struct piece *at;
    uint32_t count;
    uint32_t room;
    uint32_t head;     /* all before it are taken */
    int64_t piece_max; /* slots of the largest */
};

/* An account in the search under way. */
struct seat {
    uint64_t search; /* what follows is of this search */
    bool fresh;      /* `candidate` is right */
    bool closed;     /* nothing may be taken from it */
    uint32_t next;   /* of a project: the piece to look at */
    int64_t min_runtime_ms;
    struct piece *candidate; /* NULL: it has no more to give */
    struct vector taken;
};

struct victims {
    struct trial *trial;
    const struct pool *pool;
    int64_t now_ms;
    int64_t wake_ms;
    struct leaf *leaves; /* by account_view.index, as the seats */
    struct seat *seats;
    uint64_t *growing; /* gangs of which the trial has started more: ids, ascending */
    size_t growing_count;
    uint64_t search;
    const struct victims_ask *ask;
};

static int id_order(const void *left, const void *right)
{
    const uint64_t *a = left;
    const uint64_t *b = right;
    return *a < *b ? -1 : *a > *b;
}

static void growing_load(struct victims *victims)
{
    const struct trial *trial = victims->trial;
    for (size_t i = 0; i < trial->count; i++) {
        const struct decision *decision = &trial->decisions[i];
        if (decision->kind != DECISION_START || !decision->task->gang ||
            decision->task->active_count == 0) {
            continue;
        }
        if (victims->growing == NULL) {
            victims->growing = arena_new(trial->arena, uint64_t, trial->count - i);
        }
        victims->growing[victims->growing_count++] = decision->task->id.v;
    }
    if (victims->growing_count > 0) {
        qsort(victims->growing, victims->growing_count, sizeof(uint64_t), id_order);
    }
}

/* What has just been started of it cannot be told to stop yet, and a gang goes whole. */
static bool is_growing(const struct victims *victims, const struct task *task)
{
    return task->gang && victims->growing_count > 0 &&
           bsearch(&task->id.v, victims->growing, victims->growing_count, sizeof(uint64_t),
                   id_order) != NULL;
}

struct victims *victims_new(struct trial *trial, int64_t now_ms)
{
    struct victims *victims = arena_new(trial->arena, struct victims, 1);
    const uint32_t count = trial->tally.shares->count;
    *victims = (struct victims){
        .trial = trial,
        .pool = core_pool(trial->core, trial->pool),
        .now_ms = now_ms,
        .wake_ms = INT64_MAX,
        .leaves = arena_new(trial->arena, struct leaf, count),
        .seats = arena_new(trial->arena, struct seat, count),
    };
    growing_load(victims);
    return victims;
}

int64_t victims_wake_ms(const struct victims *victims)
{
    return victims->wake_ms;
}

/* ---- the pieces of a project ---- */

static bool stays(const struct instance *instance)
{
    return instance->state == INSTANCE_STARTING || instance->state == INSTANCE_RUNNING;
}

const struct instance *piece_next(const struct core *core, const struct piece *piece,
                                  const struct instance *after)
{
    if (!piece->whole) {
        return after == NULL ? core_instance(core, piece->task->id, piece->index) : NULL;
    }
    for (uint32_t i = after == NULL ? 0 : after->index + 1; i <= piece->index; i++) {
        const struct instance *instance = core_instance(core, piece->task->id, i);
        if (stays(instance)) {
            return instance;
        }
    }
    return NULL;
}

static void piece_add(struct victims *victims, struct leaf *leaf, const struct piece *piece)
{
    if (leaf->count == leaf->room) {
        leaf->room = leaf->room == 0 ? PIECES_FIRST : leaf->room * 2;
        struct piece *grown = arena_new(victims->trial->arena, struct piece, leaf->room);
        for (uint32_t i = 0; i < leaf->count; i++) {
            grown[i] = leaf->at[i];
        }
        leaf->at = grown;
    }
    leaf->at[leaf->count++] = *piece;
    const int64_t slots = piece->amounts.at[DIM_SLOTS];
    leaf->piece_max = slots > leaf->piece_max ? slots : leaf->piece_max;
}

static void piece_count(const struct victims *victims, const struct instance *instance,
                        struct piece *piece)
{
    const struct core *core = victims->trial->core;
    const int64_t since_ms =
        instance->state == INSTANCE_RUNNING ? instance->started_ms : instance->allocated_ms;
    const int64_t ran_ms = victims->now_ms > since_ms ? victims->now_ms - since_ms : 0;
    const int64_t held = instance->slots_milli > 0 ? instance->slots_milli : instance->cpu_milli;
    struct vector amounts;
    core_grant_vector(core, instance_request(core, instance), instance->slots_milli,
                      instance->cpu_milli, instance->memory_bytes, &amounts);
    vector_add(&piece->amounts, &amounts);
    piece->loss += (unsigned __int128)(held + 1) * (uint64_t)(ran_ms + EVICTION_COST_MS);
    piece->since_ms = since_ms > piece->since_ms ? since_ms : piece->since_ms;
}

/* Instances above the minimum are pieces by themselves, the highest first; what is left of a gang is one. */
static void task_pieces(struct victims *victims, const struct account_view *account,
                        const struct task *task)
{
    const uint32_t grown = task_grown(task);
    const uint32_t extra = task->gang && grown > task->min_count ? grown - task->min_count : 0;
    uint32_t left = task->active_count - task->stopping_count;
    const uint32_t least = task->gang && extra < left ? left - extra : 0;
    struct piece whole = {.task = task, .account = account, .whole = true};
    unsigned __int128 loss =
        0; /* those above the minimum go one after the other, whatever each would lose */
    for (uint32_t i = task->instance_count; i > 0 && left > 0; i--) {
        const struct instance *instance = core_instance(victims->trial->core, task->id, i - 1);
        if (!stays(instance)) {
            continue;
        }
        if (left > least) {
            struct piece one = {.task = task, .account = account, .index = i - 1};
            one.extra = task->gang;
            piece_count(victims, instance, &one);
            loss = task->gang && loss > one.loss ? loss : one.loss;
            one.loss = loss;
            piece_add(victims, &victims->leaves[account->index], &one);
            left--;
            continue;
        }
        whole.index = whole.index < i - 1 ? i - 1 : whole.index;
        piece_count(victims, instance, &whole);
        left--;
    }
    if (least > 0) {
        piece_add(victims, &victims->leaves[account->index], &whole);
    }
}

/* Who goes first: less important, above a minimum, younger. Never 0 for two pieces. */
static int by_age(const struct piece *a, const struct piece *b)
{
    if (a->task->rank != b->task->rank) {
        return a->task->rank > b->task->rank ? -1 : 1;
    }
    if (a->task->id.v != b->task->id.v) {
        return a->task->id.v > b->task->id.v ? -1 : 1;
    }
    if (a->whole != b->whole) {
        return (int)a->whole - (int)b->whole;
    }
    return a->index > b->index ? -1 : a->index < b->index;
}

static int by_importance(const struct piece *a, const struct piece *b)
{
    if (a->task->priority != b->task->priority) {
        return a->task->priority < b->task->priority ? -1 : 1;
    }
    return (int)b->extra - (int)a->extra;
}

static int piece_youngest(const void *left, const void *right)
{
    const int by = by_importance(left, right);
    return by != 0 ? by : by_age(left, right);
}

static int piece_least_loss(const void *left, const void *right)
{
    const struct piece *a = left;
    const struct piece *b = right;
    const int by = by_importance(a, b);
    if (by != 0) {
        return by;
    }
    return a->loss == b->loss ? by_age(a, b) : a->loss < b->loss ? -1 : 1;
}

typedef int (*piece_order_fn)(const void *left, const void *right);

static piece_order_fn piece_order(const struct victims *victims)
{
    return victims->pool->victims == VICTIMS_YOUNGEST ? piece_youngest : piece_least_loss;
}

static struct leaf *leaf_of(struct victims *victims, const struct account_view *account)
{
    struct leaf *leaf = &victims->leaves[account->index];
    if (leaf->known) {
        return leaf;
    }
    leaf->known = true;
    const struct core *core = victims->trial->core;
    const account_id id = victims->trial->tally.shares->links[account->index].id;
    struct okey key = {{ACCOUNT_KEY(victims->pool->id, id), 0, 0, 0}};
    const uint64_t first = key.at[0];
    while (oindex_next(&core->orders[ORDER_ACCOUNT_HOLD], key, &key) && key.at[0] == first) {
        const struct task *task = core_task(core, (task_id){key.at[3]});
        const bool busy = (task->gang && task->stopping_count > 0) || is_growing(victims, task);
        if (task->preemptible && !busy && task->active_count > task->stopping_count) {
            task_pieces(victims, account, task);
        }
    }
    if (leaf->count > 0) {
        qsort(leaf->at, leaf->count, sizeof leaf->at[0], piece_order(victims));
    }
    return leaf;
}

/* Recursion is as deep as the tree of accounts. */
int64_t victims_piece_max(struct victims *victims, const struct account_view *account)
{
    const struct shares *shares = victims->trial->tally.shares;
    uint32_t at = shares->links[account->index].child_first;
    if (at == SHARES_NONE) {
        return leaf_of(victims, account)->piece_max;
    }
    int64_t most = 0;
    for (; at != SHARES_NONE; at = shares->links[at].sibling_next) {
        const int64_t below = victims_piece_max(victims, &shares->views[at]);
        most = below > most ? below : most;
    }
    return most;
}

/* ---- one search ---- */

void victims_begin(struct victims *victims, const struct victims_ask *ask)
{
    victims->search++;
    victims->ask = ask;
}

static bool account_closed(const struct victims_ask *ask, const struct account_view *account,
                           bool project)
{
    if (!project) {
        return false;
    }
    switch (ask->of) {
    case VICTIMS_OF_OTHERS:
        return account == ask->claimant->account || !reclaim_from(ask->claimant, account);
    case VICTIMS_OF_OWN:
        return account != ask->claimant->account;
    case VICTIMS_OF_LOWER:
    case VICTIMS_OF_ALL:
        break;
    }
    return false;
}

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

static struct seat *seat_of(struct victims *victims, const struct account_view *account)
{
    struct seat *seat = &victims->seats[account->index];
    if (seat->search == victims->search) {
        return seat;
    }
    const bool project =
        victims->trial->tally.shares->links[account->index].child_first == SHARES_NONE;
    *seat = (struct seat){.search = victims->search,
                          .closed = account_closed(victims->ask, account, project)};
    if (project && !seat->closed) {
        seat->next = leaf_of(victims, account)->head;
        seat->min_runtime_ms = min_runtime_ms(victims, account);
    }
    return seat;
}

static bool piece_eligible(struct victims *victims, const struct seat *seat,
                           const struct piece *piece)
{
    const struct victims_ask *ask = victims->ask;
    if (piece->taken || piece->task->id.v == ask->task->id.v) {
        return false;
    }
    const bool lower = ask->of == VICTIMS_OF_OWN || ask->of == VICTIMS_OF_LOWER;
    if (lower && piece->task->priority >= ask->task->priority) {
        return false;
    }
    if (piece->extra ||
        !runtime_protected(piece->since_ms, seat->min_runtime_ms, victims->now_ms)) {
        return true;
    }
    const int64_t free_ms = piece->since_ms + seat->min_runtime_ms;
    victims->wake_ms = free_ms < victims->wake_ms ? free_ms : victims->wake_ms;
    return false;
}

static struct piece *leaf_candidate(struct victims *victims, const struct account_view *account,
                                    struct seat *seat)
{
    struct leaf *leaf = leaf_of(victims, account);
    while (leaf->head < leaf->count && leaf->at[leaf->head].taken) {
        leaf->head++;
    }
    while (seat->next < leaf->count && !piece_eligible(victims, seat, &leaf->at[seat->next])) {
        seat->next++;
    }
    return seat->next < leaf->count ? &leaf->at[seat->next] : NULL;
}

/* Does `a` give before `b`? Both have a candidate. */
static bool gives_before(const struct victims *victims, const struct account_view *a,
                         const struct account_view *b)
{
    const struct seat *seat_a = &victims->seats[a->index];
    const struct seat *seat_b = &victims->seats[b->index];
    if (victims->ask->of == VICTIMS_OF_LOWER) {
        return piece_order(victims)(seat_a->candidate, seat_b->candidate) < 0;
    }
    struct vector taken_a = seat_a->taken;
    struct vector taken_b = seat_b->taken;
    vector_add(&taken_a, &seat_a->candidate->amounts);
    vector_add(&taken_b, &seat_b->candidate->amounts);
    return account_order_giving(&victims->trial->tally.shares->pool,
                                &(struct account_side){a, NULL, &taken_a},
                                &(struct account_side){b, NULL, &taken_b}) < 0;
}

/* The account among siblings that gives next; NULL: none has anything. Recursion is as deep as the tree of accounts. */
static const struct account_view *level_next(struct victims *victims, uint32_t first)
{
    const struct shares *shares = victims->trial->tally.shares;
    const struct account_view *best = NULL;
    for (uint32_t at = first; at != SHARES_NONE; at = shares->links[at].sibling_next) {
        const struct account_view *account = &shares->views[at];
        struct seat *seat = seat_of(victims, account);
        if (!seat->fresh && !seat->closed) {
            seat->fresh = true;
            const uint32_t below = shares->links[at].child_first;
            const struct account_view *child =
                below == SHARES_NONE ? NULL : level_next(victims, below);
            seat->candidate = below == SHARES_NONE ? leaf_candidate(victims, account, seat)
                              : child == NULL      ? NULL
                                                   : victims->seats[child->index].candidate;
        }
        if (seat->candidate != NULL && (best == NULL || gives_before(victims, account, best))) {
            best = account;
        }
    }
    return best;
}

/* The piece is the search's; the accounts above it look for another. */
static void piece_give(struct victims *victims, const struct piece *piece)
{
    victims->seats[piece->account->index].next++;
    for (const struct account_view *at = piece->account; at != NULL; at = at->parent) {
        struct seat *seat = &victims->seats[at->index];
        vector_add(&seat->taken, &piece->amounts);
        seat->fresh = false;
        seat->candidate = NULL;
    }
}

struct piece *victims_next(struct victims *victims)
{
    struct piece *piece;
    if (victims->ask->of == VICTIMS_OF_OWN) {
        const struct account_view *own = victims->ask->claimant->account;
        piece = leaf_candidate(victims, own, seat_of(victims, own));
        if (piece != NULL) {
            victims->seats[own->index].next++;
        }
        return piece;
    }
    const struct account_view *top = level_next(victims, victims->trial->tally.shares->top_first);
    if (top == NULL) {
        return NULL;
    }
    piece = victims->seats[top->index].candidate;
    piece_give(victims, piece);
    return piece;
}
