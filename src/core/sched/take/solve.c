/* solve.c - the search for victims.
 *
 * Growing only looks at nodes (overlay), so that the accounts stay as they are while victims are chosen and judged; a set that
 * makes room is then tried whole in the trial. For equal instances the count of those that fit is exact, so nothing is tried in
 * vain for want of room. After a set was refused, the next is tried when it has grown by twice as much.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core/sched/take/solve.h"

#include "base/arena.h"
#include "base/must.h"
#include "core/model/fit.h"
#include "core/model/form.h"
#include "core/model/instance.h"
#include "core/model/pool.h"
#include "core/model/resource.h"
#include "core/model/shape.h"
#include "core/model/space.h"
#include "core/model/spec.h"
#include "core/sched/order/view.h"
#include "core/sched/place/place.h"
#include "core/sched/place/search.h"
#include "core/sched/take/solve_internal.h"
#include "core/state/query.h"
#include "core/state/state.h"

/* Where room was sought on nodes in vain, so much work goes into a search in order: what is found then is found soon. Not where
 * there are more nodes than this: there pieces in order are scattered, and what they make room for, a node does. In smaller pools
 * gangs of more than so many are sought in order at once. The last is
 * what a pass spends on such claimants that get nothing: those who come first in its order. */
enum {
    GROWN_FIRST = 32,
    GROW_AFTER_MAX = 1000,
    GROW_NODES_MAX = 64,
    GROW_GANG_MIN = 48,
    VAIN_MAX = 2000,
};

struct solve *solve_new(struct trial *trial, int64_t now_ms)
{
    struct solve *solve = arena_new(trial->arena, struct solve, 1);
    solve->trial = trial;
    solve->victims = victims_new(trial, now_ms);
    solve->no_node.arena = trial->arena;
    reclaim_rules_losses_init(&solve->losses, trial->tally.shares->count, trial->arena);
    return solve;
}

int64_t solve_wake_ms(const struct solve *solve)
{
    return victims_wake_ms(solve->victims);
}

int64_t solve_piece_max(struct solve *solve, const struct account_view *account)
{
    return victims_piece_max(solve->victims, account);
}

/* ---- what is there ---- */

/* The pool knows what is free; the step has changed a few nodes. */
int64_t solve_idle_milli(struct solve *solve)
{
    if (solve->idle_known) {
        return solve->idle_milli;
    }
    const struct overlay *overlay = &solve->trial->overlay;
    overlay_leaving(&solve->trial->overlay);
    solve->idle_known = true;
    solve->idle_milli = query_pool(solve->trial->core, solve->trial->pool)->slots_free;
    for (uint32_t i = 0; i < overlay->spot_room; i++) {
        const struct spot *spot = overlay->spots[i];
        if (spot != NULL && fit_usable(spot->place.node)) {
            const int64_t before = spot->place.node->slots_free;
            const int64_t after = overlay_space(spot, VIEW_LATER)->slots_free;
            solve->idle_milli += (after > 0 ? after : 0) - (before > 0 ? before : 0);
        }
    }
    return solve->idle_milli;
}

uint32_t solve_node_fits(const struct solve *solve, const struct asker *asker,
                         const struct node *node, uint32_t max)
{
    struct space_room room;
    struct space place;
    if (!fit_usable(node)) {
        return 0;
    }
    overlay_place(&solve->trial->overlay, node, asker, &room, &place);
    return fit_count(&place, asker->request, max);
}

struct asker *solve_asker_at(const struct solve *solve, struct asker *asker, uint32_t index)
{
    const struct request *request = query_task_request(solve->trial->core, asker->task, index);
    if (request == asker->request) {
        return asker;
    }
    struct asker *own = arena_dup(solve->trial->arena, asker, sizeof *asker);
    own->request = request;
    return own;
}

struct asker *solve_asker(const struct solve *solve, const struct task *task, uint32_t passes)
{
    struct asker *asker = arena_new(solve->trial->arena, struct asker, 1);
    *asker = (struct asker){
        .task = task,
        .request = &query_task_shape(solve->trial->core, task->shape)->request,
        .end_ms = INT64_MAX,
        .view = VIEW_LATER,
        .passes = passes,
    };
    return asker;
}

/* ---- growing ---- */

/* An instance leaves (or stays after all), and what fits on its node follows. */
static void instance_leave(struct solve *solve, const struct instance *instance, bool leaves)
{
    const struct core *core = solve->trial->core;
    const struct node *node = query_node(core, instance->node);
    const struct request *request = query_instance_request(core, instance);
    const struct grant grant = instance_grant(instance);
    solve->fits -= solve_node_fits(solve, solve->asker, node, solve->ask->count);
    if (leaves) {
        overlay_leave(&solve->trial->overlay, node, request, &grant);
    } else {
        overlay_stay(&solve->trial->overlay, node, request, &grant);
    }
    solve->fits += solve_node_fits(solve, solve->asker, node, solve->ask->count);
}

static uint32_t piece_leave(struct solve *solve, const struct piece *piece, bool leaves)
{
    const struct core *core = solve->trial->core;
    uint32_t count = 0;
    for (const struct instance *instance = pieces_cache_next(core, piece, NULL); instance != NULL;
         instance = pieces_cache_next(core, piece, instance)) {
        instance_leave(solve, instance, leaves);
        count++;
    }
    return count;
}

void solve_grow(struct solve *solve, struct piece *piece)
{
    if (solve->grown_count == solve->grown_room) {
        solve->grown_room = solve->grown_room == 0 ? GROWN_FIRST : solve->grown_room * 2;
        struct grown *more = arena_new(solve->trial->arena, struct grown, solve->grown_room);
        for (uint32_t i = 0; i < solve->grown_count; i++) {
            more[i] = solve->grown[i];
        }
        solve->grown = more;
    }
    solve->grown[solve->grown_count++] = (struct grown){.piece = piece};
}

static bool grow(struct solve *solve, uint64_t *work)
{
    struct piece *piece = solve->first != NULL ? solve->first : victims_next(solve->victims);
    if (piece == NULL) {
        return false;
    }
    solve->first = NULL;
    solve_grow(solve, piece);
    *work += piece_leave(solve, piece, true);
    return true;
}

static void all_leave(struct solve *solve, bool leave)
{
    for (uint32_t i = 0; i < solve->grown_count; i++) {
        (void)piece_leave(solve, solve->grown[i].piece, leave);
    }
}

static void set_done(struct solve *solve)
{
    solve->idle_known = false;
    solve->idle_milli = 0;
    solve->no_node = (struct shape_notes){.arena = solve->trial->arena};
}

/* The grown set is tried whole, where nobody has left yet. */
static bool attempt(struct solve *solve)
{
    all_leave(solve, false);
    if (solve_set(solve)) {
        set_done(solve);
        return true;
    }
    all_leave(solve, true);
    return false;
}

/* ---- the search ---- */

/* Could it fit, as far as counting tells? */
static bool enough(const struct solve *solve)
{
    return solve->unlike || solve->fits >= solve->ask->count;
}

/* Counting is the whole truth unless it has a form. */
static bool fits_together(struct solve *solve)
{
    struct trial *trial = solve->trial;
    if (query_task_shape(trial->core, solve->ask->task->shape)->form == NULL || !enough(solve)) {
        return enough(solve);
    }
    const size_t mark = trial_mark(trial);
    const bool fits =
        place_these(trial, solve->asker, solve->ask->indices, solve->ask->count, solve->places);
    trial_rollback(trial, mark);
    return fits;
}

/* False: nobody may be told to go. */
static bool search_begin(struct solve *solve, const struct solve_ask *ask,
                         struct victims_ask *victims)
{
    solve->ask = ask;
    solve->grown_count = 0;
    *victims = (struct victims_ask){ask->of, &ask->claimant, ask->task};
    victims_begin(solve->victims, victims);
    solve->first = ask->of == VICTIMS_OF_ALL ? NULL : victims_next(solve->victims);
    if (solve->first == NULL && ask->of != VICTIMS_OF_ALL) {
        return false;
    }
    solve->asker = solve_asker(solve, ask->task, ask->passes);
    solve->places = arena_new(solve->trial->arena, const struct node *, ask->count);
    solve->fits = search_total(&solve->trial->overlay, solve->asker, ask->count);
    solve->unlike =
        form_grouped(shape_form(query_task_shape(solve->trial->core, ask->task->shape)));
    return true;
}

/* One piece after the other in order, until a set is found. */
static enum solve_result search_grow(struct solve *solve, uint64_t work_max, uint64_t *work)
{
    const uint64_t work_end = *work + work_max;
    uint32_t try_at = 0;
    uint32_t step = 1;
    bool more = true;
    while (*work < work_end) {
        if (enough(solve) && (solve->grown_count >= try_at || !more)) {
            *work += solve->grown_count;
            if (attempt(solve)) {
                return SOLVE_FOUND;
            }
            try_at = solve->grown_count + step;
            step *= 2;
        }
        if (!more || !grow(solve, work)) {
            if (!more || solve->grown_count < try_at) {
                break;
            }
            more = false;
        }
    }
    all_leave(solve, false);
    return *work < work_end ? SOLVE_NONE : SOLVE_BUDGET;
}

/* What is to be close together needs more than room on some nodes: pieces move one after the other. */
static enum solve_result search_move(struct solve *solve, uint64_t work_max, uint64_t *work)
{
    const struct core *core = solve->trial->core;
    /* It will fit when those who are leaving have left. */
    if (fits_together(solve)) {
        return SOLVE_NONE;
    }
    if (query_task_shape(core, solve->ask->task->shape)->form != NULL) {
        return search_grow(solve, work_max, work);
    }
    if (!solve_node_move(solve, work)) {
        return SOLVE_NONE;
    }
    set_done(solve);
    return SOLVE_FOUND;
}

/* Is room for the claimant to be sought on nodes before it is sought in the order of who goes first? */
static bool nodes_first(const struct solve *solve)
{
    const struct core *core = solve->trial->core;
    const struct solve_ask *ask = solve->ask;
    const bool plain = ask->count == 1 || query_task_shape(core, ask->task->shape)->form == NULL;
    const struct pool *pool = query_pool(core, solve->trial->pool);
    if (!plain || solve->fits >= ask->count) {
        return false;
    }
    return pool->node_count > GROW_NODES_MAX
               ? ask->count <= TAKE_GANG_MAX
               : ask->count <= GROW_GANG_MIN && pool->victims == VICTIMS_LEAST_LOSS;
}

/* Room on nodes, else a little in order. */
static enum solve_result search_nodes(struct solve *solve, const struct victims_ask *victims,
                                      uint64_t *work)
{
    const uint64_t before = *work;
    if (solve_node_take(solve, solve->first, work)) {
        set_done(solve);
        return SOLVE_FOUND;
    }
    enum solve_result result = SOLVE_BUDGET;
    if (query_pool(solve->trial->core, solve->trial->pool)->node_count <= GROW_NODES_MAX) {
        victims_begin(solve->victims, victims);
        solve->first = victims_next(solve->victims);
        result = search_grow(solve, GROW_AFTER_MAX, work);
    }
    solve->vain += result == SOLVE_FOUND ? 0 : *work - before;
    return result;
}

/* It may fit when those who are leaving have left. It is promised that place where it could take another: so that it does not,
 * and the next one knows. */
enum solve_result solve_run(struct solve *solve, const struct solve_ask *ask, uint64_t work_max,
                            uint64_t *work)
{
    struct victims_ask victims;
    must(ask->count > 0);
    if (!search_begin(solve, ask, &victims)) {
        return SOLVE_NONE;
    }
    if (ask->of == VICTIMS_OF_ALL) {
        return search_move(solve, work_max, work);
    }
    if (!nodes_first(solve)) {
        return search_grow(solve, work_max, work);
    }
    return solve->vain < VAIN_MAX ? search_nodes(solve, &victims, work) : SOLVE_BUDGET;
}
