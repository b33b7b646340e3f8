/* solve_choice.c - reads the pieces of one node, chooses the pieces that would have to leave, and compares choices.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core/sched/take/solve_choice.h"

#include "base/arena.h"
#include "base/must.h"
#include "base/sort.h"
#include "core/model/fit.h"
#include "core/model/instance.h"
#include "core/model/oindex.h"
#include "core/model/resource.h"
#include "core/model/space.h"
#include "core/model/task.h"
#include "core/sched/order/queue.h"
#include "core/sched/order/reclaim_rules.h"
#include "core/sched/place/overlay.h"
#include "core/sched/place/search.h"
#include "core/sched/take/victims.h"
#include "core/state/key.h"
#include "core/state/query.h"
#include "core/state/state.h"

enum { NODE_PIECES_MAX = 64 }; /* how many pieces of a node are read; further pieces stay */

static int piece_by_loss(const void *left, const void *right)
{
    const struct piece *const *a = left;
    const struct piece *const *b = right;
    return pieces_cache_compare(VICTIMS_LEAST_LOSS, 0, *a, *b);
}

static int piece_by_age(const void *left, const void *right)
{
    const struct piece *const *a = left;
    const struct piece *const *b = right;
    return pieces_cache_compare(VICTIMS_YOUNGEST, 0, *a, *b);
}

static bool choice_has(const struct solve_choice *choice, const struct piece *piece)
{
    for (uint32_t i = 0; i < choice->count; i++) {
        if (choice->pieces[i] == piece) {
            return true;
        }
    }
    return false;
}

/* Is there room for one more instance of the task on some node, so that an instance could move there? Asked once for each shape. */
static bool has_elsewhere(struct solve *solve, const struct task *task)
{
    enum { UNKNOWN, NOWHERE, SOMEWHERE };
    struct shape_note *note = queue_notes_get(&solve->no_node, task->shape);
    must(note->missed_from <=
         SOMEWHERE); /* in the notes `no_node`, `missed_from` is a value of this enum */
    if (note->missed_from == UNKNOWN) {
        const struct asker *asker = solve_asker(solve, task, 0);
        const bool found = search_total(&solve->trial->overlay, asker, 1) == 1;
        note->missed_from = found ? SOMEWHERE : NOWHERE;
    }
    return note->missed_from == SOMEWHERE;
}

/* Could the instance be moved? Asked before its piece is made, because most instances have run for too long. The age of a gang is
 * known only from its piece. */
static bool may_move(struct solve *solve, const struct instance *instance)
{
    const struct task *task = query_task(solve->trial->core, instance->task);
    return (task->gang || victims_movable(solve->victims, instance)) && has_elsewhere(solve, task);
}

/* Reads the pieces on the choice's node that the search may take, and sorts them. */
static void pieces_read(struct node_search *search, struct solve_choice *choice)
{
    struct solve *solve = search->solve;
    const struct core *core = solve->trial->core;
    struct okey key = {{choice->node->id.v, 0, 0, 0}};
    struct oindex_walk walk;
    must(choice->count == 0);
    choice->pieces = arena_new(solve->trial->arena, struct piece *, NODE_PIECES_MAX);
    for (bool more = oindex_walk_from(&walk, &core->orders[ORDER_ON_NODE], key, &key);
         more && choice->count < NODE_PIECES_MAX && key.at[0] == choice->node->id.v;
         more = oindex_walk_next(&walk, &key)) {
        ++*search->work;
        const struct instance *instance = query_instance_row(core, key.at[3]);
        must(instance != NULL);
        if (solve->ask->of == VICTIMS_OF_ALL && !may_move(solve, instance)) {
            continue;
        }
        struct piece *piece = victims_piece(solve->victims, instance);
        if (piece != NULL && !choice_has(choice, piece)) {
            choice->pieces[choice->count++] = piece;
        }
    }
    if (choice->count > 1) {
        sort_items(choice->pieces, choice->count, sizeof(struct piece *),
                   search->by == VICTIMS_LEAST_LOSS ? piece_by_loss : piece_by_age);
    }
}

/* Frees in `place` what a piece holds on the node of `place`. With `give` false the piece takes its amounts again. */
static void piece_give(const struct solve *solve, const struct piece *piece, struct space *place,
                       struct space_room *room, bool give)
{
    const struct core *core = solve->trial->core;
    must(piece->count > 0);
    for (const struct instance *instance = pieces_cache_next(core, piece, NULL); instance != NULL;
         instance = pieces_cache_next(core, piece, instance)) {
        const struct grant grant = instance_grant(instance);
        if (instance->node.v != place->node->id.v) {
            continue;
        }
        if (give) {
            space_give(place, room, query_instance_request(core, instance), &grant);
        } else {
            space_take(place, room, query_instance_request(core, instance), &grant);
        }
    }
}

/* May the piece be lost beside the pieces in `solve->losses`? Reclaim judges each piece by what its accounts are left with, and adds
 * the piece to the losses. Preemption and consolidation allow every piece. */
static bool piece_may_go(struct solve *solve, const struct piece *piece)
{
    return solve->ask->of != VICTIMS_OF_OTHERS ||
           reclaim_rules_take(&solve->ask->claimant, &solve->losses, piece->account,
                              &piece->amounts) != RECLAIM_REFUSED;
}

/* Lets pieces stay that the claimant does not need after all. The piece that was chosen last is asked first. */
static void choice_shrink(const struct solve *solve, struct solve_choice *choice,
                          struct space *place, struct space_room *room)
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
    must(kept > 0); /* without these pieces fewer instances fit */
    choice->count = kept;
}

static void choice_rate(const struct node_search *search, struct solve_choice *choice)
{
    must(choice->count > 0);
    for (uint32_t i = 0; i < choice->count; i++) {
        const struct piece *piece = choice->pieces[i];
        const uint32_t priority = piece->task->priority;
        choice->priority = priority > choice->priority ? priority : choice->priority;
        choice->others += search->first != NULL && piece->account != search->first;
        choice->loss += piece->loss;
    }
}

bool solve_choice_may_go(struct solve *solve, const struct solve_choice *choice)
{
    must(choice->count > 0);
    for (uint32_t i = 0; i < choice->count; i++) {
        if (choice->pieces[i]->set != solve->set && !piece_may_go(solve, choice->pieces[i])) {
            return false;
        }
    }
    return true;
}

/* May the pieces of the choice be lost, and is the outcome balanced between the accounts? */
static bool choice_allowed(struct solve *solve, const struct solve_choice *choice)
{
    must(choice->count > 0);
    reclaim_rules_losses_clear(&solve->losses);
    for (uint32_t i = 0; i < choice->count; i++) {
        if (!piece_may_go(solve, choice->pieces[i])) {
            return false;
        }
    }
    return solve->ask->of != VICTIMS_OF_OTHERS ||
           reclaim_rules_balanced(&solve->ask->claimant, &solve->losses);
}

bool solve_choice_make(struct node_search *search, struct solve_choice *choice)
{
    struct solve *solve = search->solve;
    const struct spot *spot = overlay_find(&solve->trial->overlay, choice->node->id);
    struct space_room borrowed;
    struct space_room room;
    struct space now;
    struct space place;
    must(choice->node != NULL);
    const bool kept =
        spot != NULL && spot->keep != NULL && (solve->asker->passes >> spot->keep->at & 1u) == 0;
    if (!fit_usable(choice->node) || kept) {
        return false;
    }
    pieces_read(search, choice);
    overlay_place(&solve->trial->overlay, choice->node, solve->asker, &borrowed, &now);
    space_copy(&now, &room, &place);
    const uint32_t before = fit_count(&place, solve->asker->request, solve->ask->count);
    const uint32_t wanted = solve->ask->count;
    uint32_t gone = 0;
    reclaim_rules_losses_clear(&solve->losses);
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
    choice->refused = !choice_allowed(solve, choice);
    return true;
}

static int choice_importance(const struct solve_choice *a, const struct solve_choice *b)
{
    if (a->priority != b->priority) {
        return a->priority < b->priority ? -1 : 1;
    }
    return a->others != b->others ? (a->others < b->others ? -1 : 1) : 0;
}

/* Compares two choices by the last piece of each. */
static int choice_by_age(const void *left, const void *right)
{
    const struct solve_choice *a = left;
    const struct solve_choice *b = right;
    must(a->count > 0);
    must(b->count > 0);
    const int importance = choice_importance(a, b);
    if (importance != 0) {
        return importance;
    }
    const int by =
        pieces_cache_compare(VICTIMS_YOUNGEST, 0, a->pieces[a->count - 1], b->pieces[b->count - 1]);
    return by != 0 ? by : (a->node->id.v > b->node->id.v) - (a->node->id.v < b->node->id.v);
}

static int choice_by_loss(const void *left, const void *right)
{
    const struct solve_choice *a = left;
    const struct solve_choice *b = right;
    const int importance = choice_importance(a, b);
    if (importance != 0) {
        return importance;
    }
    return a->loss != b->loss ? (a->loss < b->loss ? -1 : 1) : choice_by_age(a, b);
}

/* ---- every set of a node ---- */

/* On a node with at most so many pieces every set of pieces is looked at. */
enum { EXACT_PIECES_MAX = 8 };

/* Reads the pieces of the node that the search may take; no pieces where there are more than EXACT_PIECES_MAX. */
static void exact_read(struct node_search *search, const struct solve_choice *greedy,
                       struct solve_choice *all)
{
    *all = (struct solve_choice){.node = greedy->node};
    pieces_read(search, all);
    if (all->count > EXACT_PIECES_MAX) {
        all->count = 0;
    }
}

/* Fills `ret` with the pieces of `all` whose bits are in `set`. */
static void exact_rate(const struct node_search *search, const struct solve_choice *all,
                       uint32_t set, struct solve_choice *ret)
{
    must(set < 1u << all->count);
    *ret = (struct solve_choice){.node = all->node, .pieces = ret->pieces};
    for (uint32_t i = 0; i < all->count; i++) {
        if ((set >> i & 1) != 0) {
            ret->pieces[ret->count++] = all->pieces[i];
        }
    }
    choice_rate(search, ret);
}

/* Does one instance of the claimant fit without the pieces of the choice, and may all of these be lost? */
static bool exact_serves(struct solve *solve, struct solve_choice *choice)
{
    struct space_room borrowed;
    struct space_room room;
    struct space now;
    struct space place;
    must(solve->ask->count == 1);
    overlay_place(&solve->trial->overlay, choice->node, solve->asker, &borrowed, &now);
    space_copy(&now, &room, &place);
    for (uint32_t i = 0; i < choice->count; i++) {
        piece_give(solve, choice->pieces[i], &place, &room, true);
    }
    choice->fits = fit_count(&place, solve->asker->request, 1);
    return choice->fits == 1 && choice_allowed(solve, choice);
}

void solve_choice_refine(struct node_search *search, struct solve_choice *choice)
{
    struct solve_choice all;
    struct solve_choice set;
    exact_read(search, choice, &all);
    must(all.count <= EXACT_PIECES_MAX);
    set.pieces = arena_new(search->solve->trial->arena, struct piece *, EXACT_PIECES_MAX);
    for (uint32_t bits = 1; bits < 1u << all.count; bits++) {
        exact_rate(search, &all, bits, &set);
        if (!choice->refused && choice_by_loss(&set, choice) >= 0) {
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

static int choice_allowed_by_loss(const void *left, const void *right)
{
    const struct solve_choice *a = left;
    const struct solve_choice *b = right;
    return a->refused != b->refused ? (a->refused ? 1 : -1) : choice_by_loss(a, b);
}

static int choice_allowed_by_age(const void *left, const void *right)
{
    const struct solve_choice *a = left;
    const struct solve_choice *b = right;
    return a->refused != b->refused ? (a->refused ? 1 : -1) : choice_by_age(a, b);
}

void solve_choice_sort(struct node_search *search)
{
    const bool by_loss = search->by == VICTIMS_LEAST_LOSS;
    must(search->count <= search->look_max);
    if (search->count < 2) {
        return;
    }
    if (search->solve->ask->count == 1) {
        sort_items(search->choices, search->count, sizeof(struct solve_choice),
                   by_loss ? choice_allowed_by_loss : choice_allowed_by_age);
    } else {
        sort_items(search->choices, search->count, sizeof(struct solve_choice),
                   by_loss ? choice_by_loss : choice_by_age);
    }
}
