/* solve_set.c - tries a set of victims: which pieces are kept, moved or lost, and whether the rules allow the losses.
 *
 * Surprising: the set is tried twice. The first try evicts all pieces, places the claimant and finds the fate of each piece, and is
 * then undone. The second try evicts only the pieces that are moved or lost.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/arena.h"
#include "base/must.h"
#include "core/model/bucket.h"
#include "core/model/fit.h"
#include "core/model/form.h"
#include "core/model/instance.h"
#include "core/model/resource.h"
#include "core/model/shape.h"
#include "core/model/space.h"
#include "core/model/vector.h"
#include "core/sched/keep/budget.h"
#include "core/sched/order/account.h"
#include "core/sched/order/form_chunk.h"
#include "core/sched/order/gates.h"
#include "core/sched/order/tally.h"
#include "core/sched/order/turns.h"
#include "core/sched/order/view.h"
#include "core/sched/place/place.h"
#include "core/sched/take/floor.h"
#include "core/sched/take/solve_internal.h"
#include "core/sched/take/victims.h"
#include "core/state/query.h"
#include "core/state/state.h"

static void piece_evict(struct solve *solve, const struct grown *grown)
{
    const struct core *core = solve->trial->core;
    for (const struct instance *instance = pieces_cache_next(core, grown->piece, NULL);
         instance != NULL; instance = pieces_cache_next(core, grown->piece, instance)) {
        trial_evict(solve->trial, instance, grown->why, solve_reuses(solve));
    }
}

/* Is what the instance holds still free on its node? Then the instance comes back to its node in the overlay. */
static bool instance_stay(struct solve *solve, const struct instance *instance)
{
    const struct core *core = solve->trial->core;
    const struct node *node = query_node(core, instance->node);
    const struct request *request = query_instance_request(core, instance);
    const struct grant grant = instance_grant(instance);
    const struct spot *spot = overlay_find(&solve->trial->overlay, node->id);
    must(spot != NULL);
    if (!fit_holds(overlay_space(spot, VIEW_LATER), request, &grant)) {
        return false;
    }
    overlay_stay(&solve->trial->overlay, node, request, &grant, solve_reuses(solve));
    return true;
}

/* The instances of a piece leave their nodes in the overlay, up to `end`; NULL: all of them. */
static void instances_leave(struct solve *solve, const struct piece *piece,
                            const struct instance *end)
{
    const struct core *core = solve->trial->core;
    for (const struct instance *instance = pieces_cache_next(core, piece, NULL); instance != end;
         instance = pieces_cache_next(core, piece, instance)) {
        const struct grant grant = instance_grant(instance);
        overlay_leave(&solve->trial->overlay, query_node(core, instance->node),
                      query_instance_request(core, instance), &grant, solve_reuses(solve));
    }
}

/* Can all instances of a piece stay on their nodes? Then the instances come back to their nodes in the overlay. */
static bool piece_stay(struct solve *solve, const struct piece *piece)
{
    const struct core *core = solve->trial->core;
    must(piece->count > 0);
    for (const struct instance *instance = pieces_cache_next(core, piece, NULL); instance != NULL;
         instance = pieces_cache_next(core, piece, instance)) {
        if (!instance_stay(solve, instance)) {
            instances_leave(solve, piece, instance);
            return false;
        }
    }
    return true;
}

/* Is the claimant within the bounds of its accounts and its user? The decisions from `mark` on are the claimant's places. */
static bool claimant_within(struct solve *solve, size_t mark)
{
    struct tally *tally = &solve->trial->tally;
    const struct task *task = solve->ask->task;
    struct vector amounts = {{0}};
    must(mark + solve->ask->count <= solve->trial->count);
    for (size_t i = mark; i < mark + solve->ask->count; i++) {
        must(solve->trial->decisions[i].task->id.v == task->id.v);
        vector_add(&amounts, &solve->trial->decisions[i].amounts);
    }
    tally_move(tally, task, VIEW_LATER, &amounts, -1);
    const bool within = tally_gate(tally, task, VIEW_LATER, &amounts).gate == GATE_OPEN &&
                        !tally_user_capped(tally, task, VIEW_LATER, &amounts);
    tally_move(tally, task, VIEW_LATER, &amounts, 1);
    return within;
}

static void piece_leave_again(struct solve *solve, const struct piece *piece)
{
    tally_move(&solve->trial->tally, piece->task, VIEW_LATER, &piece->amounts, -1);
    instances_leave(solve, piece, NULL);
}

/* Is the piece at `extra` above a minimum of a gang or group that is lost? Such a piece is lost with its gang or group. In the set a
 * gang or group stands behind its pieces above a minimum. */
static bool gang_lost(const struct solve *solve, uint32_t extra)
{
    must(extra < solve->grown_count);
    const struct piece *own = solve->grown[extra].piece;
    for (uint32_t i = extra + 1; i < solve->grown_count && own->extra; i++) {
        const struct grown *grown = &solve->grown[i];
        if (grown->piece->task == own->task && pieces_cut_before(own, grown->piece) &&
            grown->fate == FATE_LOST) {
            return true;
        }
    }
    return false;
}

/* Lets pieces stay that the claimant does not need. The piece that joined the set last is asked first, so the pieces that come first
 * in the order are lost. The decisions from `mark` on are the claimant's places. */
static void shrink(struct solve *solve, size_t mark)
{
    for (uint32_t i = solve->grown_count; i > 0; i--) {
        struct grown *grown = &solve->grown[i - 1];
        const struct piece *piece = grown->piece;
        must(grown->fate == FATE_LOST);
        if (gang_lost(solve, i - 1) || !piece_stay(solve, piece)) {
            continue;
        }
        tally_move(&solve->trial->tally, piece->task, VIEW_LATER, &piece->amounts, 1);
        if (claimant_within(solve, mark)) {
            grown->fate = FATE_KEPT;
        } else {
            piece_leave_again(solve, piece);
        }
    }
}

/* May the accounts and the user of the asker's task hold these instances beside what they hold? Bounds the asker by what the
 * accounts may still take. */
static bool accounts_take(struct solve *solve, struct asker *asker, const uint32_t *indices,
                          uint32_t count)
{
    const struct core *core = solve->trial->core;
    const struct tally *tally = &solve->trial->tally;
    struct vector request;
    must(count > 0);
    if (form_grouped(shape_form(query_task_shape(core, asker->task->shape)))) {
        form_chunk_amounts(core, asker->task, indices, count, SLOTS_LEAST, &request);
    } else {
        turns_amounts(core, asker->task, count, SLOTS_LEAST, &request);
    }
    if (tally_gate(tally, asker->task, VIEW_LATER, &request).gate != GATE_OPEN ||
        tally_user_capped(tally, asker->task, VIEW_LATER, &request)) {
        return false;
    }
    asker->bounded = tally_left(tally, asker->task, VIEW_LATER, &asker->left);
    return true;
}

bool solve_set_later(struct solve *solve, const struct solve_ask *ask)
{
    must(ask->count > 0);
    struct asker *asker = solve_asker(solve, ask->task, ask->passes);
    const struct node **places = arena_new(solve->trial->arena, const struct node *, ask->count);
    if (!accounts_take(solve, asker, ask->indices, ask->count) ||
        !place_these(solve->trial, asker, ask->indices, ask->count, places)) {
        return false;
    }
    solve->idle_known = false;
    solve->idle_milli = 0;
    return true;
}

/* Finds another place for all instances of a piece; false: not for all. */
static bool piece_move(struct solve *solve, struct grown *grown)
{
    const struct core *core = solve->trial->core;
    const struct piece *piece = grown->piece;
    const uint32_t room = piece->count;
    uint32_t *indices = arena_new(solve->trial->arena, uint32_t, room);
    uint32_t count = 0;
    for (const struct instance *instance = pieces_cache_next(core, piece, NULL); instance != NULL;
         instance = pieces_cache_next(core, piece, instance)) {
        indices[count++] = instance->index;
    }
    must(count == piece->count);
    struct asker *asker = solve_asker(solve, piece->task, 0);
    if (!accounts_take(solve, asker, indices, count)) {
        return false;
    }
    grown->asker = asker;
    grown->places = arena_new(solve->trial->arena, const struct node *, count);
    return place_these(solve->trial, asker, indices, count, grown->places);
}

/* Moves the pieces that find another place. Consolidation must move every piece that cannot stay, and at most `moved_max` pieces;
 * false: it cannot. */
static bool move(struct solve *solve)
{
    uint32_t moved = 0;
    for (uint32_t i = solve->grown_count; i > 0; i--) {
        struct grown *grown = &solve->grown[i - 1];
        if (grown->fate != FATE_LOST) {
            continue;
        }
        if (!gang_lost(solve, i - 1) && piece_move(solve, grown)) {
            grown->fate = FATE_MOVED;
            moved++;
        } else if (solve->ask->of == VICTIMS_OF_ALL) {
            return false;
        }
    }
    return solve->ask->of != VICTIMS_OF_ALL || moved <= solve->ask->moved_max;
}

/* The first try: the set leaves, the claimant is placed, and each piece gets its fate. The trial is as it was afterwards. */
static bool set_try(struct solve *solve)
{
    struct trial *trial = solve->trial;
    const size_t mark = trial_mark(trial);
    must(solve->asker->task == solve->ask->task);
    for (uint32_t i = 0; i < solve->grown_count; i++) {
        solve->grown[i].why = NULL;
        solve->grown[i].fate = FATE_LOST;
        piece_evict(solve, &solve->grown[i]);
    }
    const size_t claims = trial_mark(trial);
    bool placed =
        accounts_take(solve, solve->asker, solve->ask->indices, solve->ask->count) &&
        place_these(trial, solve->asker, solve->ask->indices, solve->ask->count, solve->places);
    if (placed) {
        shrink(solve, claims);
        placed = move(solve);
        for (uint32_t i = 0; i < solve->grown_count; i++) {
            if (solve->grown[i].fate == FATE_KEPT) {
                piece_leave_again(solve, solve->grown[i].piece);
            }
        }
    }
    trial_rollback(trial, mark);
    return placed;
}

/* ---- judging ---- */

/* How an account stands in one dimension, for the record of an eviction. */
static struct eviction_side side_of(const struct solve *solve, const struct account_view *account,
                                    uint32_t dim)
{
    must(dim < QUOTA_DIMS_MAX);
    return (struct eviction_side){
        .account = solve->trial->tally.shares->links[account->index].id,
        .allocated = account->allocated.at[dim],
        .guaranteed = account->guaranteed.at[dim],
        .share = account->share.at[dim],
    };
}

/* The record of an eviction: the rule, and the two accounts where the paths of claimant and victim diverge. */
static const struct eviction *why_new(struct solve *solve, const struct piece *piece,
                                      enum eviction_rule rule, uint32_t dim)
{
    const struct account_view *taker;
    const struct account_view *giver;
    account_diverge(solve->ask->claimant.account, piece->account, &taker, &giver);
    must(taker->parent == giver->parent);
    struct eviction *why = arena_new(solve->trial->arena, struct eviction, 1);
    *why = (struct eviction){
        .rule = rule,
        .claimant = solve->ask->task->id,
        .resource = query_dim_resource(solve->trial->core, dim),
        .victim = side_of(solve, giver, dim),
        .taker = side_of(solve, taker, dim),
    };
    return why;
}

/* The dimension that the claimant lacks on the node of the piece before the piece leaves; slots where that is no dimension, or where
 * nothing is lacking there. */
static uint32_t dim_lacking(const struct solve *solve, const struct piece *piece)
{
    const struct core *core = solve->trial->core;
    const struct instance *instance = pieces_cache_next(core, piece, NULL);
    must(instance != NULL);
    const struct node *node = query_node(core, instance->node);
    must(node != NULL);
    struct space now;
    struct lack lack;
    uint32_t dim;
    space_now(node, &now);
    return fit_lack(&now, solve->asker->request, &lack) && lack.code == REASON_NO_ROOM &&
                   query_dim_of(core, lack.resource, &dim)
               ? dim
               : DIM_SLOTS;
}

/* The dimension in which the giver is above its share, or above its guarantee, as `rule` says: the dimension that the claimant lacks,
 * if it is one of them, else the first; slots where there is none. */
static uint32_t dim_above(const struct solve *solve, const struct piece *piece,
                          enum reclaim_rule rule)
{
    const struct account_view *taker;
    const struct account_view *giver;
    must(rule != RECLAIM_REFUSED);
    account_diverge(solve->ask->claimant.account, piece->account, &taker, &giver);
    const struct vector remaining = reclaim_rules_remaining(&solve->losses, giver);
    const struct account_pool *pool = &solve->trial->tally.shares->pool;
    const uint32_t above = rule == RECLAIM_BY_SHARE
                               ? reclaim_rules_above_share(pool, giver, &remaining)
                               : vector_above(&remaining, &giver->guaranteed, pool->dims);
    const uint32_t lacking = dim_lacking(solve, piece);
    if ((above >> lacking & 1) != 0) {
        return lacking;
    }
    return above == 0 ? DIM_SLOTS : (uint32_t)__builtin_ctz(above);
}

/* Do the rules of reclaim allow the lost pieces? Judges each piece after the pieces before it in the set, then the whole outcome. */
static bool lost_allowed(struct solve *solve)
{
    must(solve->ask->of == VICTIMS_OF_OTHERS);
    reclaim_rules_losses_clear(&solve->losses);
    for (uint32_t i = 0; i < solve->grown_count; i++) {
        struct grown *grown = &solve->grown[i];
        if (grown->fate != FATE_LOST) {
            continue;
        }
        const uint32_t by_share = dim_above(solve, grown->piece, RECLAIM_BY_SHARE);
        const uint32_t by_guarantee = dim_above(solve, grown->piece, RECLAIM_BY_GUARANTEE);
        const enum reclaim_rule rule = reclaim_rules_take(
            &solve->ask->claimant, &solve->losses, grown->piece->account, &grown->piece->amounts);
        if (rule == RECLAIM_REFUSED) {
            return false;
        }
        if (gang_lost(solve, i)) {
            reclaim_rules_joined(&solve->losses);
        }
        grown->why = rule == RECLAIM_BY_SHARE
                         ? why_new(solve, grown->piece, EVICT_SHARE, by_share)
                         : why_new(solve, grown->piece, EVICT_GUARANTEE, by_guarantee);
    }
    return reclaim_rules_balanced(&solve->ask->claimant, &solve->losses);
}

/* Are the losses allowed? Gives each piece that leaves the record of its eviction. */
static bool judge(struct solve *solve)
{
    if (solve->ask->of == VICTIMS_OF_OTHERS && !lost_allowed(solve)) {
        return false;
    }
    for (uint32_t i = 0; i < solve->grown_count; i++) {
        struct grown *grown = &solve->grown[i];
        if (grown->fate == FATE_MOVED) {
            grown->why =
                why_new(solve, grown->piece, EVICT_CONSOLIDATE, dim_lacking(solve, grown->piece));
        } else if (grown->fate == FATE_LOST && solve->ask->of != VICTIMS_OF_OTHERS) {
            grown->why =
                why_new(solve, grown->piece, EVICT_PRIORITY, dim_lacking(solve, grown->piece));
        }
        must(grown->fate == FATE_KEPT || grown->why != NULL); /* every eviction has its reason */
    }
    return true;
}

/* ---- the second try ---- */

/* Places an instance on the node that the first try found; false: the instance does not fit there. */
static bool place_again(struct solve *solve, struct asker *like, const struct node *node,
                        uint32_t index)
{
    must(node != NULL);
    const struct asker *asker = solve_asker_at(solve, like, index);
    if (solve_node_fits(solve, asker, node, 1) == 0) {
        return false;
    }
    trial_place(solve->trial, asker, node, index);
    solve->idle_milli -= fit_usable(node) ? fit_slots(node, asker->request) : 0;
    return true;
}

/* Places all instances of a moved piece; false: an instance does not fit. */
static bool piece_place_again(struct solve *solve, const struct grown *grown)
{
    const struct core *core = solve->trial->core;
    uint32_t at = 0;
    for (const struct instance *instance = pieces_cache_next(core, grown->piece, NULL);
         instance != NULL; instance = pieces_cache_next(core, grown->piece, instance)) {
        must(at < grown->piece->count);
        if (!place_again(solve, grown->asker, grown->places[at++], instance->index)) {
            return false;
        }
    }
    return true;
}

/* What the loss budget pays for the pieces that leave. It pays nothing where a guarantee or a priority asks for them: the accounts must
 * be as they were before the set. False: the budget cannot pay. */
static bool set_price(struct solve *solve, int64_t *ret)
{
    int64_t cost = 0;
    bool young = true;
    const bool charged = query_pool(solve->trial->core, solve->trial->pool)->turn_ms > 0 &&
                         (solve->ask->of == VICTIMS_OF_OTHERS || solve->ask->of == VICTIMS_OF_ALL);
    for (uint32_t i = 0; charged && i < solve->grown_count; i++) {
        struct piece *piece = solve->grown[i].piece;
        if (solve->grown[i].fate != FATE_KEPT &&
            !victims_by_guarantee(&solve->ask->claimant, piece->account)) {
            victims_piece_cost(solve->victims, piece);
            cost = bucket_plus(cost, piece->cost);
            young = young && !piece->old;
        }
    }
    *ret = cost;
    return cost == 0 || budget_affords(solve->trial, cost, young);
}

/* The second try: the first try once more, without the pieces that stay. The second try may fail for two reasons. Other devices of a
 * node may be free now than in the first try, so requests for parts of devices may not fit. The accounts that pay may be left
 * without their floor. */
static bool set_do(struct solve *solve)
{
    bool done = true;
    for (uint32_t i = 0; i < solve->grown_count; i++) {
        if (solve->grown[i].fate != FATE_KEPT) {
            must(solve->grown[i].why != NULL);
            piece_evict(solve, &solve->grown[i]);
        }
    }
    for (uint32_t i = 0; i < solve->ask->count && done; i++) {
        done = place_again(solve, solve->asker, solve->places[i], solve->ask->indices[i]);
    }
    for (uint32_t i = solve->grown_count; i > 0 && done; i--) {
        if (solve->grown[i - 1].fate == FATE_MOVED) {
            done = piece_place_again(solve, &solve->grown[i - 1]);
        }
    }
    done = done && (solve->ask->of != VICTIMS_OF_OTHERS || floor_left(solve));
    for (uint32_t i = 0; i < solve->grown_count && done; i++) {
        solve->grown[i].piece->taken |= solve->grown[i].fate != FATE_KEPT;
    }
    /* what is known of idle places is still true, because place_again() has counted the places that it took */
    solve->idle_known = solve->idle_known && done;
    return done;
}

bool solve_set(struct solve *solve)
{
    const size_t mark = trial_mark(solve->trial);
    int64_t price = 0;
    if (set_try(solve) && judge(solve) && set_price(solve, &price) && set_do(solve)) {
        solve->trial->lost = bucket_plus(solve->trial->lost, price);
        return true;
    }
    trial_rollback(solve->trial, mark);
    return false;
}
