/* solve_node.c - seeks victims node by node: which pieces of a node would have to leave.
 *
 *   to take:  1. looks at the nodes of the pieces that leave first
 *             2. if these do not suffice, at the nodes of the pieces that make most room
 *             3. takes the nodes on which least is lost
 *             4. if the rules refuse that, looks at pieces of accounts in the claimant's department
 *   to move:  looks at the emptiest nodes; takes the first node whose pieces all find another place
 *
 * Why node by node: pieces in the order of loss are scattered over all nodes. A whole node would become free only after most pieces
 * had joined the set, and most of the set would be evicted in vain.
 * Surprising: a node costs at least the loss of the cheapest piece on it, and pieces come in the order of their loss. So the search
 * knows the best node as soon as that node costs no more than the next piece.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/arena.h"
#include "base/must.h"
#include "core/model/spec.h"
#include "core/model/vector.h"
#include "core/sched/place/search.h"
#include "core/sched/take/solve_choice.h"
#include "core/sched/take/solve_internal.h"
#include "core/sched/take/victims.h"
#include "core/state/query.h"
#include "core/state/state.h"

enum {
    TAKE_LOOK_MAX = 48, /* nodes looked at to evict for one instance */
    TAKE_LOOK = 12, /* nodes after which one instance looks no further, if a choice is allowed */
    TAKE_LOOK_GANG = 32, /* nodes looked at to evict for a gang, beside two for each instance */
    TAKE_SPARE_MAX = 48, /* a gang looks for room for at most so many more than its instances */
    MOVE_LOOK_MAX = 8,   /* nodes looked at to move pieces for one instance */
    MOVE_LOOK_GANG = 32, /* nodes looked at to move pieces for a gang */
    ATTEMPTS_MAX = 4,    /* sets that are tried whole */
};

/* ---- trying sets ---- */

/* Begins an empty set of victims. */
static void set_begin(struct solve *solve)
{
    solve->set++;
    solve->grown_count = 0;
}

/* Adds the pieces of a choice to the set. A piece of several nodes may be in the set already. */
static void choice_grow(struct solve *solve, const struct solve_choice *choice)
{
    for (uint32_t i = 0; i < choice->count; i++) {
        if (choice->pieces[i]->set != solve->set) {
            choice->pieces[i]->set = solve->set;
            solve_grow(solve, choice->pieces[i]);
        }
    }
}

/* Tries the best choices, each alone. For a claimant of one instance. */
static bool choices_try(struct node_search *search)
{
    struct solve *solve = search->solve;
    must(solve->ask->count == 1);
    for (uint32_t i = 0; i < search->count && i < ATTEMPTS_MAX; i++) {
        set_begin(solve);
        choice_grow(solve, &search->choices[i]);
        *search->work += solve->grown_count;
        if (solve_set(solve)) {
            return true;
        }
    }
    solve->grown_count = 0;
    return false;
}

/* Tries the best choices together, as many as a gang needs. After a refused set one more choice joins the set. */
static bool choices_try_together(struct node_search *search)
{
    struct solve *solve = search->solve;
    uint64_t fits = solve->fits;
    uint32_t attempts = 0;
    must(solve->ask->count > 1);
    set_begin(solve);
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
    solve->grown_count = 0;
    return false;
}

/* Tries the best choices together, but only choices that reclaim allows beside the choices before. An account soon has given all
 * that it holds beyond its right. */
static bool choices_try_allowed(struct node_search *search)
{
    struct solve *solve = search->solve;
    uint64_t fits = solve->fits;
    must(solve->ask->of == VICTIMS_OF_OTHERS);
    set_begin(solve);
    reclaim_rules_losses_clear(&solve->losses);
    for (uint32_t i = 0; i < search->count && fits < solve->ask->count; i++) {
        if (!search->choices[i].refused && solve_choice_may_go(solve, &search->choices[i])) {
            choice_grow(solve, &search->choices[i]);
            fits += search->choices[i].more;
        }
    }
    *search->work += solve->grown_count;
    if (fits >= solve->ask->count && solve_set(solve)) {
        return true;
    }
    solve->grown_count = 0;
    return false;
}

static struct node_search *search_new(struct solve *solve, uint32_t look_max, uint64_t *work)
{
    must(look_max > 0);
    struct node_search *search = arena_new(solve->trial->arena, struct node_search, 1);
    search->look_max = look_max;
    search->choices = arena_new(solve->trial->arena, struct solve_choice, look_max);
    search->seen = arena_new(solve->trial->arena, node_id, look_max);
    search->solve = solve;
    search->by = (enum pool_victims)query_pool(solve->trial->core, solve->trial->pool)->victims;
    search->work = work;
    return search;
}

/* ---- evicting ---- */

/* Was the node looked at before? Notes the node as looked at. */
static bool node_seen(struct node_search *search, node_id node)
{
    must(search->seen_count < search->look_max);
    for (uint32_t i = 0; i < search->seen_count; i++) {
        if (search->seen[i].v == node.v) {
            return true;
        }
    }
    search->seen[search->seen_count++] = node;
    return false;
}

/* Has the search looked at enough nodes? A gang looks for room for twice its instances, a large gang for a little more than its
 * instances. */
static bool looked_enough(const struct node_search *search)
{
    const uint32_t count = search->solve->ask->count;
    must(search->refused <= search->count);
    if (count == 1) {
        return search->seen_count >=
               (search->count > search->refused ? TAKE_LOOK : search->look_max);
    }
    const uint32_t spare = count < TAKE_SPARE_MAX ? count : TAKE_SPARE_MAX;
    return search->seen_count >= search->look_max || search->more >= (uint64_t)count + spare;
}

/* Looks at the nodes of a piece. */
static void piece_nodes(struct node_search *search, const struct piece *piece)
{
    const struct core *core = search->solve->trial->core;
    for (const struct instance *instance = pieces_cache_next(core, piece, NULL);
         instance != NULL && !looked_enough(search);
         instance = pieces_cache_next(core, piece, instance)) {
        if (node_seen(search, instance->node)) {
            continue;
        }
        must(search->count < search->seen_count); /* at most one choice for each node seen */
        ++*search->solve->trial->overlay.visited;
        struct solve_choice *choice = &search->choices[search->count];
        *choice = (struct solve_choice){.node = query_node(core, instance->node)};
        if (solve_choice_make(search, choice)) {
            search->more += choice->refused ? 0 : choice->more;
            search->refused += choice->refused;
            search->count++;
        }
    }
}

/* Is some choice at least as good as every choice on the nodes of `next` and of the pieces behind it? */
static bool best_known(const struct node_search *search, const struct piece *next)
{
    for (uint32_t i = 0; i < search->count; i++) {
        const struct solve_choice *choice = &search->choices[i];
        if (!choice->refused && choice->others == 0 && choice->priority <= next->task->priority &&
            choice->loss <= next->loss) {
            return true;
        }
    }
    return false;
}

/* Looks at the nodes of one piece after the other, until the best node is known or `seen_max` nodes were seen. */
static void nodes_look(struct node_search *search, struct piece *first, uint32_t seen_max)
{
    const struct solve *solve = search->solve;
    must(seen_max <= search->look_max);
    for (struct piece *piece = first;
         piece != NULL && !looked_enough(search) && search->seen_count < seen_max;
         piece = victims_next(solve->victims)) {
        ++*search->work;
        if (solve->ask->count == 1 && search->by == VICTIMS_LEAST_LOSS &&
            best_known(search, piece)) {
            break;
        }
        piece_nodes(search, piece);
    }
}

/* Looks at nodes for the claimant. In the order of loss small pieces come first, and a large pool has many of them. If their nodes
 * make too little room, the order for a need follows: pieces of which one makes enough room, then pieces of which two do, … */
static void nodes_read(struct node_search *search, struct piece *first)
{
    const struct solve *solve = search->solve;
    const struct solve_ask *ask = solve->ask;
    must(ask->count > 0);
    const int64_t need_milli = ask->claimant.request.at[DIM_SLOTS] / ask->count;
    nodes_look(search, first, need_milli > 0 ? TAKE_LOOK : search->look_max);
    if (need_milli > 0 && search->more < ask->count) {
        victims_begin_need(solve->victims, need_milli);
        nodes_look(search, victims_next(solve->victims), search->look_max);
    }
}

/* Tries the choices that were found. */
static bool found_try(struct node_search *search)
{
    const struct solve *solve = search->solve;
    must(search->count <= search->seen_count);
    solve_choice_sort(search);
    if (solve->ask->count > 1) {
        return choices_try_together(search) ||
               (solve->ask->of == VICTIMS_OF_OTHERS && choices_try_allowed(search));
    }
    for (uint32_t i = 0; search->by == VICTIMS_LEAST_LOSS && i < search->count && i < ATTEMPTS_MAX;
         i++) {
        solve_choice_refine(search, &search->choices[i]);
    }
    solve_choice_sort(search);
    return choices_try(search);
}

/* Seeks victims in the claimant's own department. In the order of pieces, all pieces of the department that is furthest above its
 * right come first. The rules refuse such pieces where that department would end below its right and the claimant's department above
 * its own. In this case borrowers of the claimant's department have to give. */
static bool near_take(struct node_search *search)
{
    const struct solve *solve = search->solve;
    const struct solve_ask *ask = solve->ask;
    must(solve->grown_count == 0); /* a refused set was emptied */
    if (ask->of != VICTIMS_OF_OTHERS || ask->claimant.account->parent == NULL ||
        search->count == 0) {
        return false;
    }
    victims_begin_near(solve->victims, ask->claimant.request.at[DIM_SLOTS] / ask->count);
    struct piece *first = victims_next(solve->victims);
    if (first == NULL) {
        return false;
    }
    search->first = first->account;
    search->count = 0;
    search->refused = 0;
    search->more = 0;
    search->seen_count = 0;
    nodes_look(search, first, search->look_max);
    return found_try(search);
}

bool solve_node_take(struct solve *solve, struct piece *first, uint64_t *work)
{
    const bool one = solve->ask->count == 1;
    must(solve->ask->count <= TAKE_GANG_MAX);
    struct node_search *search =
        search_new(solve, one ? TAKE_LOOK_MAX : TAKE_LOOK_GANG + 2 * solve->ask->count, work);
    search->first = solve->ask->of == VICTIMS_OF_OTHERS ? first->account : NULL;
    nodes_read(search, first);
    return found_try(search) || near_take(search);
}

/* ---- moving ---- */

/* Looks at the emptiest nodes. Returns how many instances of the claimant would fit if all pieces that could move were gone. */
static uint64_t emptiest_read(struct node_search *search)
{
    struct solve *solve = search->solve;
    uint64_t fits = solve->fits;
    struct search_at at = SEARCH_TOP;
    for (uint32_t i = 0; i < search->look_max; i++) {
        must(search->count <= i);
        struct solve_choice *choice = &search->choices[search->count];
        *choice = (struct solve_choice){
            .node = search_step(&solve->trial->overlay, solve->asker, &at, false),
        };
        if (choice->node == NULL) {
            break;
        }
        ++*search->work;
        if (solve_choice_make(search, choice)) {
            fits += choice->more;
            search->count++;
        }
    }
    return fits;
}

bool solve_node_move(struct solve *solve, uint64_t *work)
{
    const uint32_t count = solve->ask->count;
    must(solve->ask->of == VICTIMS_OF_ALL);
    struct node_search *search =
        search_new(solve, count == 1 ? MOVE_LOOK_MAX : MOVE_LOOK_GANG, work);
    if (emptiest_read(search) < count) {
        return false;
    }
    solve_choice_sort(search);
    return count == 1 ? choices_try(search) : choices_try_together(search);
}
