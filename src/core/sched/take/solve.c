/* solve.c - the search for victims.
 *
 * While the set of victims grows, only the overlay of nodes changes, so the accounts stay as they are. A set that makes room is then
 * tried whole in the trial. For equal instances the count of those that fit is exact, so no set is tried that makes too little room.
 * After each refused set the search waits twice as many pieces as before until it tries again.
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
#include "core/sched/order/account.h"
#include "core/sched/order/view.h"
#include "core/sched/place/place.h"
#include "core/sched/place/search.h"
#include "core/sched/take/solve_internal.h"
#include "core/state/query.h"
#include "core/state/state.h"

/* A pool of at most GROW_NODES_MAX nodes is small. In a small pool a chunk of more than GROW_GANG_MIN instances seeks victims in the
 * order of pieces at once. A smaller chunk seeks victims node by node, then in the order of pieces with a budget of GROW_AFTER_MAX.
 * In a larger pool the pieces of one order are too scattered to make room together. VAIN_MAX bounds the work of a pass on searches
 * node by node that find nothing, for claims on surplus and for the others. */
enum {
    GROWN_FIRST = 32, /* pieces for which the first set of victims has room */
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
    reclaim_rules_losses_init(&solve->losses, trial->tally.shares, trial->tally.shares->count,
                              trial->arena);
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

/* ---- free room ---- */

/* The pool's row has the free slots of the state. Only the nodes that this step has touched differ. */
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
    must(asker->view == VIEW_LATER); /* a victim has left only in the later view */
    if (!fit_usable(node)) {
        return 0;
    }
    overlay_place(&solve->trial->overlay, node, asker, &room, &place);
    return fit_count(&place, asker->request, max);
}

struct asker *solve_asker_at(const struct solve *solve, struct asker *asker, uint32_t index)
{
    must(index < asker->task->instance_count);
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
    must(task->pool.v == solve->trial->pool.v);
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

bool solve_reuses(const struct solve *solve)
{
    return solve->ask->of != VICTIMS_OF_ALL;
}

/* An instance leaves its node in the overlay, or comes back to its node. Keeps `solve->fits` up to date. */
static void instance_leave(struct solve *solve, const struct instance *instance, bool leaves)
{
    const struct core *core = solve->trial->core;
    const struct node *node = query_node(core, instance->node);
    must(node != NULL);
    const struct request *request = query_instance_request(core, instance);
    const struct grant grant = instance_grant(instance);
    solve->fits -= solve_node_fits(solve, solve->asker, node, solve->ask->count);
    if (leaves) {
        overlay_leave(&solve->trial->overlay, node, request, &grant, solve_reuses(solve));
    } else {
        overlay_stay(&solve->trial->overlay, node, request, &grant, solve_reuses(solve));
    }
    solve->fits += solve_node_fits(solve, solve->asker, node, solve->ask->count);
}

/* All instances of a piece leave or come back. Returns how many the piece has. */
static uint32_t piece_leave(struct solve *solve, const struct piece *piece, bool leaves)
{
    const struct core *core = solve->trial->core;
    uint32_t count = 0;
    for (const struct instance *instance = pieces_cache_next(core, piece, NULL); instance != NULL;
         instance = pieces_cache_next(core, piece, instance)) {
        instance_leave(solve, instance, leaves);
        count++;
    }
    must(count == piece->count);
    return count;
}

void solve_grow(struct solve *solve, struct piece *piece)
{
    must(!piece->taken);
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

/* Adds the next piece in order to the set; false: there is none. */
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
    solve->seen = trial_mark(solve->trial);
    solve->idle_known = false;
    solve->idle_milli = 0;
    solve->no_node = (struct shape_notes){.arena = solve->trial->arena};
}

void solve_refresh(struct solve *solve)
{
    if (trial_mark(solve->trial) != solve->seen) {
        set_done(solve);
        victims_refresh(solve->victims);
    }
}

/* Tries the set whole. For this all pieces of the set come back to their nodes first. */
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

/* Were enough places counted for the claimant once all pieces of the set have left? True also where places cannot be counted, because
 * the instances of the claimant differ. */
static bool enough(const struct solve *solve)
{
    return solve->unlike || solve->fits >= solve->ask->count;
}

/* Does the claimant fit once all pieces of the set have left? A task without a form fits if enough places were counted. A gang with a
 * form is placed to find out, and the places are undone. */
static bool fits_together(struct solve *solve)
{
    struct trial *trial = solve->trial;
    must(solve->asker->task == solve->ask->task);
    if (query_task_shape(trial->core, solve->ask->task->shape)->form == NULL || !enough(solve)) {
        return enough(solve);
    }
    const size_t mark = trial_mark(trial);
    const bool fits =
        place_these(trial, solve->asker, solve->ask->indices, solve->ask->count, solve->places);
    trial_rollback(trial, mark);
    return fits;
}

/* Begins the search for one claimant. False: no piece may be evicted for this claimant. */
static bool search_begin(struct solve *solve, const struct solve_ask *ask,
                         struct victims_ask *victims)
{
    must(ask->claimant.account != NULL);
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

/* Adds one piece after the other in order, until a set is found or the pieces or the budget end. */
static enum solve_result search_grow(struct solve *solve, uint64_t work_max, uint64_t *work)
{
    must(solve->grown_count == 0);
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

/* The search of consolidation. For a gang with a form, pieces are moved in their order and not node by node, because the gang needs
 * places that are close together. */
static enum solve_result search_move(struct solve *solve, uint64_t work_max, uint64_t *work)
{
    const struct core *core = solve->trial->core;
    must(solve->ask->of == VICTIMS_OF_ALL);
    /* The claimant fits once all leaving instances have left: no task has to move. */
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

/* Are victims sought node by node, before they are sought in the order of pieces? */
static bool nodes_first(const struct solve *solve)
{
    const struct core *core = solve->trial->core;
    const struct solve_ask *ask = solve->ask;
    const bool plain = ask->count == 1 || query_task_shape(core, ask->task->shape)->form == NULL;
    const struct pool *pool = query_pool(core, solve->trial->pool);
    must(ask->of != VICTIMS_OF_ALL);
    if (!plain || solve->fits >= ask->count) {
        return false;
    }
    return pool->node_count > GROW_NODES_MAX
               ? ask->count <= TAKE_GANG_MAX
               : ask->count <= GROW_GANG_MIN && pool->victims == VICTIMS_LEAST_LOSS;
}

/* Claims on surplus have a count of their own. The loss budget lets many of these claims fail, and a claim on a guarantee must not pay
 * for their searches (P4). */
static uint64_t *vain_of(struct solve *solve)
{
    const struct claimant *claimant = &solve->ask->claimant;
    const bool surplus =
        solve->ask->of == VICTIMS_OF_OTHERS &&
        !account_within_guarantee(claimant->pool, claimant->account, &claimant->request);
    return surplus ? &solve->vain_surplus : &solve->vain;
}

/* Seeks victims node by node. In a small pool a short search in the order of pieces follows. */
static enum solve_result search_nodes(struct solve *solve, const struct victims_ask *victims,
                                      uint64_t *work)
{
    const uint64_t before = *work;
    uint64_t *vain = vain_of(solve);
    must(solve->first != NULL);
    if (*vain >= VAIN_MAX) {
        return SOLVE_BUDGET;
    }
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
    *vain += result == SOLVE_FOUND ? 0 : *work - before;
    return result;
}

/* Surprising: a claimant that fits once all leaving instances have left gets a claim on its place here, with an empty set of victims.
 * Without the claim the claimant could evict others later, and the next claimant would count on the same room. */
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
    return search_nodes(solve, &victims, work);
}
