/* solve_node.c - room on single nodes: which pieces of a node would have to go.
 *
 *   to take:  the nodes of the pieces that would go first; of those that make room, where least is lost
 *   to move:  the emptiest nodes; the first whose pieces all find another place
 *
 * A set that lies on one node is found by looking at a few nodes. Pieces in the order of loss alone are scattered over all of
 * them: a whole node comes together only when most of them have gone, and the rest of the set is then taken in vain.
 * Surprising: as pieces come in the order of what each loses, no node met later can cost less than the piece that leads to it; so
 * the best one is known as soon as it costs no more than that.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core/sched/solve_internal.h"

#include "base/must.h"
#include "base/sort.h"
#include "core/core_internal.h"
#include "core/sched/search.h"

enum {
    LOOK_MAX = 32,        /* nodes looked at so that a gang can move others */
    TAKE_LOOK_MAX = 48,   /* for one instance that takes, */
    TAKE_LOOK = 12,       /* where some of those are enough */
    MOVE_LOOK_MAX = 8,    /* for one that moves others */
    NODE_PIECES_MAX = 64, /* of a node; those behind them stay */
    ATTEMPTS_MAX = 4,     /* sets that are tried whole */
};

/* What would have to go from a node. */
struct choice {
    const struct node *node;
    uint32_t priority; /* the highest among them */
    uint32_t others;   /* pieces of accounts that do not give first */
    unsigned __int128 loss;
    struct piece **pieces;
    uint32_t count;
    uint32_t fits; /* instances of the claimant then, */
    uint32_t more; /* and how many of them do not fit as it is */
};

struct node_search {
    struct solve *solve;
    enum pool_victims by;
    const struct account_view *first; /* the account that gives first; NULL: any */
    struct choice choices[LOOK_MAX];
    uint32_t count;
    node_id seen[TAKE_LOOK_MAX];
    uint32_t seen_count;
    uint64_t *work;
};

static int piece_by_loss(const void *left, const void *right)
{
    const struct piece *const *a = left;
    const struct piece *const *b = right;
    return pieces_compare(VICTIMS_LEAST_LOSS, *a, *b);
}

static int piece_by_age(const void *left, const void *right)
{
    const struct piece *const *a = left;
    const struct piece *const *b = right;
    return pieces_compare(VICTIMS_YOUNGEST, *a, *b);
}

static bool choice_has(const struct choice *choice, const struct piece *piece)
{
    for (uint32_t i = 0; i < choice->count; i++) {
        if (choice->pieces[i] == piece) {
            return true;
        }
    }
    return false;
}

/* Is there room for an instance of the task on some node, so that it could be moved? Asked once a shape. */
static bool has_elsewhere(struct solve *solve, const struct task *task)
{
    enum { UNKNOWN, NOWHERE, SOMEWHERE };
    struct note *note = notes_get(&solve->nowhere, task->shape);
    if (note->missed_from == UNKNOWN) {
        const struct asker *asker = solve_asker(solve, task);
        const bool found = search_first(&solve->trial->overlay, asker, 1) != NULL;
        note->missed_from = found ? SOMEWHERE : NOWHERE;
    }
    return note->missed_from == SOMEWHERE;
}

/* The pieces on the node that may go, in order. */
static void pieces_read(struct node_search *search, struct choice *choice)
{
    struct solve *solve = search->solve;
    const struct core *core = solve->trial->core;
    struct okey key = {{choice->node->id.v, 0, 0, 0}};
    choice->pieces = arena_new(solve->trial->arena, struct piece *, NODE_PIECES_MAX);
    while (choice->count < NODE_PIECES_MAX &&
           oindex_next(&core->orders[ORDER_ON_NODE], key, &key) &&
           key.at[0] == choice->node->id.v) {
        ++*search->work;
        struct piece *piece = victims_piece(solve->victims, instance_row(core, key.at[3]));
        if (piece == NULL || choice_has(choice, piece)) {
            continue;
        }
        if (solve->ask->of != VICTIMS_OF_ALL || has_elsewhere(solve, piece->task)) {
            choice->pieces[choice->count++] = piece;
        }
    }
    if (choice->count > 1) {
        sort_items(choice->pieces, choice->count, sizeof(struct piece *),
                   search->by == VICTIMS_LEAST_LOSS ? piece_by_loss : piece_by_age);
    }
}

/* What a piece holds of the node is free (or is held again). */
static void piece_give(const struct solve *solve, const struct piece *piece, struct place *place,
                       struct place_room *room, bool give)
{
    const struct core *core = solve->trial->core;
    for (const struct instance *instance = piece_next(core, piece, NULL); instance != NULL;
         instance = piece_next(core, piece, instance)) {
        const struct grant grant = instance_grant(instance);
        if (instance->node.v != place->node->id.v) {
            continue;
        }
        if (give) {
            place_give(place, room, instance_request(core, instance), &grant);
        } else {
            place_take(place, room, instance_request(core, instance), &grant);
        }
    }
}

/* May the piece be lost after those before it? Where others give, each is judged by what they are left with. */
static bool piece_may_go(struct solve *solve, const struct piece *piece)
{
    return solve->ask->of != VICTIMS_OF_OTHERS ||
           reclaim_take(&solve->ask->claimant, &solve->losses, piece->account, &piece->amounts) !=
               RECLAIM_REFUSED;
}

/* As many go as the claimant needs, in order; who is not needed after all stays, the last first. */
static void choice_shrink(const struct solve *solve, struct choice *choice, struct place *place,
                          struct place_room *room)
{
    const struct request *request = solve->asker->request;
    uint32_t kept = 0;
    for (uint32_t i = choice->count; i > 0; i--) {
        piece_give(solve, choice->pieces[i - 1], place, room, false);
        if (fit_count(place, request, solve->ask->count) < choice->fits) {
            piece_give(solve, choice->pieces[i - 1], place, room, true);
        } else {
            choice->pieces[i - 1] = NULL;
        }
    }
    for (uint32_t i = 0; i < choice->count; i++) {
        if (choice->pieces[i] != NULL) {
            choice->pieces[kept++] = choice->pieces[i];
        }
    }
    choice->count = kept;
}

static void choice_rate(const struct node_search *search, struct choice *choice)
{
    for (uint32_t i = 0; i < choice->count; i++) {
        const struct piece *piece = choice->pieces[i];
        const uint32_t priority = piece->task->priority;
        choice->priority = priority > choice->priority ? priority : choice->priority;
        choice->others += search->first != NULL && piece->account != search->first;
        choice->loss += piece->loss;
    }
}

/* Fills the choice with what would have to go from its node; false: nothing makes room there. */
static bool choice_make(struct node_search *search, struct choice *choice)
{
    struct solve *solve = search->solve;
    const struct spot *spot = overlay_find(&solve->trial->overlay, choice->node->id);
    struct place_room borrowed;
    struct place_room room;
    struct place now;
    struct place place;
    if (!fit_usable(choice->node) || (spot != NULL && spot->keep != NULL)) {
        return false;
    }
    pieces_read(search, choice);
    overlay_place(&solve->trial->overlay, choice->node, solve->asker, &borrowed, &now);
    place_copy(&now, &room, &place);
    const uint32_t before = fit_count(&place, solve->asker->request, solve->ask->count);
    const uint32_t wanted = solve->ask->of == VICTIMS_OF_ALL ? solve->ask->count : 1;
    uint32_t gone = 0;
    losses_clear(&solve->losses);
    for (uint32_t i = 0; i < choice->count && choice->fits < wanted; i++) {
        struct piece *piece = choice->pieces[i];
        if (piece_may_go(solve, piece)) {
            piece_give(solve, piece, &place, &room, true);
            choice->pieces[gone++] = piece;
            choice->fits = fit_count(&place, solve->asker->request, solve->ask->count);
        }
    }
    choice->count = gone;
    if (choice->fits <= before) {
        return false;
    }
    choice->more = choice->fits - before;
    choice_shrink(solve, choice, &place, &room);
    choice_rate(search, choice);
    return true;
}

static int choice_importance(const struct choice *a, const struct choice *b)
{
    if (a->priority != b->priority) {
        return a->priority < b->priority ? -1 : 1;
    }
    return a->others != b->others ? (a->others < b->others ? -1 : 1) : 0;
}

/* By the last of each that has to go. */
static int choice_by_age(const void *left, const void *right)
{
    const struct choice *a = left;
    const struct choice *b = right;
    const int importance = choice_importance(a, b);
    if (importance != 0) {
        return importance;
    }
    const int by =
        pieces_compare(VICTIMS_YOUNGEST, a->pieces[a->count - 1], b->pieces[b->count - 1]);
    return by != 0 ? by : (a->node->id.v > b->node->id.v) - (a->node->id.v < b->node->id.v);
}

static int choice_by_loss(const void *left, const void *right)
{
    const struct choice *a = left;
    const struct choice *b = right;
    const int importance = choice_importance(a, b);
    if (importance != 0) {
        return importance;
    }
    return a->loss != b->loss ? (a->loss < b->loss ? -1 : 1) : choice_by_age(a, b);
}

/* ---- exactly ---- */

/* Where every set is looked at. */
enum { EXACT_PIECES_MAX = 8 };

/* The pieces of the node that may go, at most EXACT_PIECES_MAX; else none. */
static void exact_read(struct node_search *search, const struct choice *greedy, struct choice *all)
{
    *all = (struct choice){.node = greedy->node};
    pieces_read(search, all);
    if (all->count > EXACT_PIECES_MAX) {
        all->count = 0;
    }
}

static void exact_rate(const struct node_search *search, const struct choice *all, uint32_t set,
                       struct choice *ret)
{
    *ret = (struct choice){.node = all->node, .pieces = ret->pieces};
    for (uint32_t i = 0; i < all->count; i++) {
        if ((set >> i & 1) != 0) {
            ret->pieces[ret->count++] = all->pieces[i];
        }
    }
    choice_rate(search, ret);
}

/* Does the claimant fit when these go, and may they all be lost? */
static bool exact_serves(struct solve *solve, struct choice *choice)
{
    struct place_room borrowed;
    struct place_room room;
    struct place now;
    struct place place;
    overlay_place(&solve->trial->overlay, choice->node, solve->asker, &borrowed, &now);
    place_copy(&now, &room, &place);
    for (uint32_t i = 0; i < choice->count; i++) {
        piece_give(solve, choice->pieces[i], &place, &room, true);
    }
    choice->fits = fit_count(&place, solve->asker->request, 1);
    losses_clear(&solve->losses);
    bool may = choice->fits == 1;
    for (uint32_t i = 0; i < choice->count && may; i++) {
        may = piece_may_go(solve, choice->pieces[i]);
    }
    return may;
}

/* The best set of a node with few pieces: what goes in order may lose more than another set. */
static void choice_refine(struct node_search *search, struct choice *choice)
{
    struct choice all;
    struct choice set;
    exact_read(search, choice, &all);
    set.pieces = arena_new(search->solve->trial->arena, struct piece *, EXACT_PIECES_MAX);
    for (uint32_t bits = 1; bits < 1u << all.count; bits++) {
        exact_rate(search, &all, bits, &set);
        if (choice_by_loss(&set, choice) >= 0) {
            continue;
        }
        ++*search->work;
        if (exact_serves(search->solve, &set)) {
            struct piece **spare = choice->pieces;
            *choice = set;
            set.pieces = spare;
        }
    }
}

/* ---- trying ---- */

/* A gang may be on several nodes. */
static bool grown_has(const struct solve *solve, const struct piece *piece)
{
    for (uint32_t i = 0; i < solve->grown_count; i++) {
        if (solve->grown[i].piece == piece) {
            return true;
        }
    }
    return false;
}

static void choice_grow(struct solve *solve, const struct choice *choice)
{
    for (uint32_t i = 0; i < choice->count; i++) {
        if (!grown_has(solve, choice->pieces[i])) {
            solve_grow(solve, choice->pieces[i]);
        }
    }
}

static void choices_sort(struct node_search *search)
{
    if (search->count > 1) {
        sort_items(search->choices, search->count, sizeof(struct choice),
                   search->by == VICTIMS_LEAST_LOSS ? choice_by_loss : choice_by_age);
    }
}

static bool choices_try(struct node_search *search)
{
    struct solve *solve = search->solve;
    for (uint32_t i = 0; i < search->count && i < ATTEMPTS_MAX; i++) {
        solve->grown_count = 0;
        choice_grow(solve, &search->choices[i]);
        *search->work += solve->grown_count;
        if (solve_set(solve)) {
            return true;
        }
    }
    solve->grown_count = 0;
    return false;
}

static struct node_search *search_new(struct solve *solve, uint64_t *work)
{
    struct node_search *search = arena_new(solve->trial->arena, struct node_search, 1);
    search->solve = solve;
    search->by = (enum pool_victims)core_pool(solve->trial->core, solve->trial->pool)->victims;
    search->work = work;
    return search;
}

/* ---- taking ---- */

static bool node_seen(struct node_search *search, node_id node)
{
    must(search->seen_count < TAKE_LOOK_MAX);
    for (uint32_t i = 0; i < search->seen_count; i++) {
        if (search->seen[i].v == node.v) {
            return true;
        }
    }
    search->seen[search->seen_count++] = node;
    return false;
}

static bool looked_enough(const struct node_search *search)
{
    return search->seen_count >= (search->count > 0 ? TAKE_LOOK : TAKE_LOOK_MAX);
}

/* The nodes of a piece. */
static void piece_nodes(struct node_search *search, const struct piece *piece)
{
    const struct core *core = search->solve->trial->core;
    for (const struct instance *instance = piece_next(core, piece, NULL);
         instance != NULL && !looked_enough(search); instance = piece_next(core, piece, instance)) {
        if (node_seen(search, instance->node)) {
            continue;
        }
        ++*search->solve->trial->overlay.visited;
        struct choice *choice = &search->choices[search->count];
        *choice = (struct choice){.node = core_node(core, instance->node)};
        search->count += choice_make(search, choice);
    }
}

/* Can no node that is still to come be better? */
static bool best_known(const struct node_search *search, const struct piece *next)
{
    for (uint32_t i = 0; i < search->count; i++) {
        const struct choice *choice = &search->choices[i];
        if (choice->others == 0 && choice->priority <= next->task->priority &&
            choice->loss <= next->loss) {
            return true;
        }
    }
    return false;
}

bool solve_node_take(struct solve *solve, struct piece *first, uint64_t *work)
{
    struct node_search *search = search_new(solve, work);
    search->first = solve->ask->of == VICTIMS_OF_OTHERS ? first->account : NULL;
    must(solve->ask->count == 1);
    for (struct piece *piece = first; piece != NULL && !looked_enough(search);
         piece = victims_next(solve->victims)) {
        ++*work;
        if (best_known(search, piece)) {
            break;
        }
        piece_nodes(search, piece);
    }
    choices_sort(search);
    for (uint32_t i = 0; i < search->count && i < ATTEMPTS_MAX; i++) {
        choice_refine(search, &search->choices[i]);
    }
    choices_sort(search);
    return choices_try(search);
}

/* ---- moving ---- */

/* Looks at the emptiest nodes; returns how many instances of the claimant would fit without what could be moved. */
static uint64_t emptiest_read(struct node_search *search, uint32_t nodes)
{
    struct solve *solve = search->solve;
    uint64_t fits = solve->fits;
    struct search_at at = SEARCH_TOP;
    for (uint32_t i = 0; i < nodes; i++) {
        struct choice *choice = &search->choices[search->count];
        *choice = (struct choice){
            .node = search_down(&solve->trial->overlay, solve->asker, &at),
        };
        if (choice->node == NULL) {
            break;
        }
        ++*search->work;
        if (choice_make(search, choice)) {
            fits += choice->more;
            search->count++;
        }
    }
    return fits;
}

/* A gang takes the best of them, as many as it needs. */
static bool choices_try_together(struct node_search *search)
{
    struct solve *solve = search->solve;
    uint64_t fits = solve->fits;
    uint32_t attempts = 0;
    solve->grown_count = 0;
    for (uint32_t i = 0; i < search->count && attempts < ATTEMPTS_MAX; i++) {
        choice_grow(solve, &search->choices[i]);
        fits += search->choices[i].more;
        if (fits < solve->ask->count) {
            continue;
        }
        *search->work += solve->grown_count;
        if (solve_set(solve)) {
            return true;
        }
        attempts++;
    }
    return false;
}

bool solve_node_move(struct solve *solve, uint64_t *work)
{
    struct node_search *search = search_new(solve, work);
    const uint32_t count = solve->ask->count;
    if (emptiest_read(search, count == 1 ? MOVE_LOOK_MAX : LOOK_MAX) < count) {
        return false;
    }
    choices_sort(search);
    return count == 1 ? choices_try(search) : choices_try_together(search);
}
