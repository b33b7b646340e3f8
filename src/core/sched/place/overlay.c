/* overlay.c - touched nodes: what is free on them now and later, and what of the free amounts is kept.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core/sched/place/overlay.h"

#include "base/checked.h"
#include "base/hash.h"
#include "base/must.h"
#include "core/model/fit.h"
#include "core/model/spec.h"
#include "core/sched/place/search.h"
#include "core/sched/place/tight_index.h"
#include "core/state/key.h"
#include "core/state/query.h"
#include "core/state/space_later.h"

enum { SPOTS_FIRST = 16 };

/* ---- spots ---- */

static uint32_t spot_index(const struct overlay *overlay, node_id node)
{
    uint32_t at = (uint32_t)hash_u64(node.v) & (overlay->spot_room - 1);
    while (overlay->spots[at] != NULL && overlay->spots[at]->place.node->id.v != node.v) {
        at = (at + 1) & (overlay->spot_room - 1);
    }
    return at;
}

struct spot *overlay_find(const struct overlay *overlay, node_id node)
{
    return overlay->spot_count == 0 ? NULL : overlay->spots[spot_index(overlay, node)];
}

static void spots_grow(struct overlay *overlay)
{
    struct spot **old = overlay->spots;
    const uint32_t old_room = overlay->spot_room;
    overlay->spot_room = old_room == 0 ? SPOTS_FIRST : old_room * 2;
    must((overlay->spot_room & (overlay->spot_room - 1)) == 0); /* spot_index() masks */
    overlay->spots = arena_new(overlay->arena, struct spot *, overlay->spot_room);
    for (uint32_t i = 0; i < old_room; i++) {
        if (old[i] != NULL) {
            overlay->spots[spot_index(overlay, old[i]->place.node->id)] = old[i];
        }
    }
}

struct spot *overlay_touch(struct overlay *overlay, const struct node *node)
{
    struct spot *spot = overlay_find(overlay, node->id);
    if (spot != NULL) {
        return spot;
    }
    if ((overlay->spot_count + 1) * 2 > overlay->spot_room) {
        spots_grow(overlay);
    }
    struct space now;
    space_now(node, &now);
    spot = arena_new(overlay->arena, struct spot, 1);
    space_copy(&now, &spot->room, &spot->place);
    overlay->spots[spot_index(overlay, node->id)] = spot;
    overlay->spot_count++;
    must(overlay->spot_count < overlay->spot_room); /* an unused entry ends every search */
    return spot;
}

/* ---- later ---- */

static struct later *spot_later(struct overlay *overlay, struct spot *spot)
{
    if (spot->later == NULL) {
        spot->later = arena_new(overlay->arena, struct later, 1);
        space_copy(&spot->place, &spot->later->room, &spot->later->place);
    }
    return spot->later;
}

/* Fills the `later` of a node from the state: leaving instances free their amounts, claims take theirs. */
static void node_load(struct overlay *overlay, const struct node *node)
{
    struct spot *spot = overlay_touch(overlay, node);
    struct later *later = spot_later(overlay, spot);
    ++*overlay->visited;
    space_later(overlay->core, node, true, &later->room, &later->place);
}

/* Loads the `later` of all changing nodes with claims, or (`claimed` false) of all changing nodes without claims. */
static void changing_load(struct overlay *overlay, bool claimed)
{
    struct okey key = {{overlay->pool.v, 0, 0, 0}};
    while (oindex_next(&overlay->core->orders[ORDER_NODE_CHANGING], key, &key) &&
           key.at[0] == overlay->pool.v) {
        const struct node *node = query_node(overlay->core, (node_id){(uint32_t)key.at[1]});
        if ((node->claim_count > 0) == claimed) {
            node_load(overlay, node);
        }
    }
}

void overlay_leaving(struct overlay *overlay)
{
    if (!overlay->leaving_known) {
        overlay->leaving_known = true;
        changing_load(overlay, false);
    }
}

void overlay_init(struct overlay *overlay, const struct core *core, pool_id pool,
                  struct arena *arena)
{
    const struct pool *row = query_pool(core, pool);
    must(row != NULL);
    *overlay = (struct overlay){.core = core, .pool = pool, .arena = arena};
    overlay->visited = arena_new(arena, uint64_t, 1);
    overlay->indexed = core->capacity != NULL;
    overlay->spread = row->placement == PLACEMENT_SPREAD;
    overlay->tightest = row->placement == PLACEMENT_TIGHT;
    for (unsigned view = 0; view < VIEW_COUNT; view++) {
        oindex_init(&overlay->orders[view].index);
    }
    changing_load(overlay, true);
}

void overlay_done(struct overlay *overlay)
{
    tight_index_leave(overlay);
    for (unsigned view = 0; view < VIEW_COUNT; view++) {
        oindex_done(&overlay->orders[view].index);
    }
}

/* ---- places ---- */

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Reduces `ret` to what is free in `other`, too. */
static void place_both(struct space *ret, const struct space *other, struct space_room *room)
{
    must(ret->node == other->node);
    ret->slots_free = least(ret->slots_free, other->slots_free);
    ret->cpu_free = least(ret->cpu_free, other->cpu_free);
    ret->memory_free = least(ret->memory_free, other->memory_free);
    ret->aux_used = ret->aux_used > other->aux_used ? ret->aux_used : other->aux_used;
    for (uint32_t i = 0; i < ret->node->named_count; i++) {
        room->named_free[i] = least(ret->named_free[i], other->named_free[i]);
    }
    for (uint32_t i = 0; i < ret->node->device_count; i++) {
        const uint16_t free = ret->device_free[i];
        room->device_free[i] = free < other->device_free[i] ? free : other->device_free[i];
    }
    ret->named_free = room->named_free;
    ret->device_free = room->device_free;
}

uint32_t overlay_holder(struct overlay *overlay, const struct task *task)
{
    for (uint32_t i = 0; i < overlay->holder_count; i++) {
        if (overlay->holders[i].task == task) {
            return i;
        }
    }
    must(overlay->holder_count < RESERVATIONS_MAX);
    overlay->holders[overlay->holder_count] = (struct reserved_task){.task = task};
    return overlay->holder_count++;
}

void overlay_unkeep(struct overlay *overlay, const struct task *holder)
{
    overlay->keeping = false;
    for (uint32_t i = 0; i < overlay->spot_room; i++) {
        struct spot *spot = overlay->spots[i];
        if (spot != NULL && spot->keep != NULL && spot->keep->task == holder) {
            spot->keep = NULL;
        }
        overlay->keeping |= spot != NULL && spot->keep != NULL;
    }
    if (overlay->holder_count > 0 && overlay->holders[overlay->holder_count - 1].task == holder) {
        overlay->holder_count--;
    }
}

/* Counts a placement (sign 1) for the holders that it concerns, or takes the count back (sign -1). */
static void holders_note(struct overlay *overlay, const struct spot *spot,
                         const struct placed *placed, int sign)
{
    for (uint32_t i = 0; i < overlay->holder_count; i++) {
        if (overlay->holders[i].task == placed->asker->task) {
            overlay->holders[i].placed += (uint32_t)sign;
        }
    }
    if (placed->passes) {
        must(spot->keep != NULL);
        must(spot->keep->at < overlay->holder_count);
        struct reserved_task *holder = &overlay->holders[spot->keep->at];
        const bool own = holder->task->account.v == placed->asker->task->account.v;
        *(own ? &holder->passed_own : &holder->passed_else) += (uint32_t)sign;
    }
}

/* May the asker use kept places? Yes if the asker is the holder, ends before the holder starts, or has a right to pass the holder. */
static bool may_use(const struct keep *keep, const struct asker *asker)
{
    return asker->task == keep->task || (keep->end_known && asker->end_ms <= keep->end_ms) ||
           (asker->passes >> keep->at & 1u) != 0;
}

const struct space *overlay_space(const struct spot *spot, enum view view)
{
    return view == VIEW_LATER && spot->later != NULL ? &spot->later->place : &spot->place;
}

void overlay_place(const struct overlay *overlay, const struct node *node,
                   const struct asker *asker, struct space_room *room, struct space *ret)
{
    const struct spot *spot = overlay_find(overlay, node->id);
    if (spot == NULL) {
        space_now(node, ret);
        return;
    }
    must(spot->keep == NULL || spot->keep->at < overlay->holder_count);
    *ret = *overlay_space(spot, asker->view);
    if (asker->view == VIEW_NOW && spot->later != NULL) {
        place_both(ret, &spot->later->place, room);
    }
    if (spot->keep != NULL && !may_use(spot->keep, asker)) {
        place_both(ret, &spot->keep->left, room);
    }
}

/* ---- changes ---- */

int64_t overlay_end_ms(const struct task *task, int64_t now_ms)
{
    return task->time_limit_ms > 0 ? i64_add(now_ms, task->time_limit_ms) : INT64_MAX;
}

static void touched_add(struct overlay *overlay, node_id node)
{
    if (overlay->touched_count == overlay->touched_room) {
        const uint32_t room = overlay->touched_room == 0 ? SPOTS_FIRST : overlay->touched_room * 2;
        node_id *grown = arena_new(overlay->arena, node_id, room);
        for (uint32_t i = 0; i < overlay->touched_count; i++) {
            grown[i] = overlay->touched[i];
        }
        overlay->touched = grown;
        overlay->touched_room = room;
    }
    must(overlay->touched_count < overlay->touched_room);
    overlay->touched[overlay->touched_count++] = node;
}

/* Gives the amounts of an instance back to a view of the spot (sign 1), or takes them (sign -1). */
static void spot_move(struct overlay *overlay, struct spot *spot, enum view view,
                      const struct request *request, const struct grant *grant, int sign)
{
    must(view == VIEW_NOW || spot->later != NULL);
    struct space *place = view == VIEW_NOW ? &spot->place : &spot->later->place;
    struct space_room *room = view == VIEW_NOW ? &spot->room : &spot->later->room;
    struct space_room old_room;
    struct space old;
    space_copy(place, &old_room, &old);
    if (sign > 0) {
        space_give(place, room, request, grant);
    } else {
        space_take(place, room, request, grant);
    }
    search_moved(overlay, view, &old, place, request);
    tight_index_moved(overlay, view, place->node->id);
    if (view == VIEW_NOW && spot->later == NULL) {
        search_moved(overlay, VIEW_LATER, &old, place, request);
        tight_index_moved(overlay, VIEW_LATER, place->node->id);
    }
}

/* Takes the amounts of a placement from every view in which the placement counts (sign -1), or gives them back (sign 1). */
static void placed_move(struct overlay *overlay, struct spot *spot, const struct placed *placed,
                        int sign)
{
    must(!placed->claim || spot->later != NULL); /* a claim counts later only */
    must(!placed->beside || spot->keep != NULL);
    const struct request *request = placed->asker->request;
    if (!placed->claim) {
        spot_move(overlay, spot, VIEW_NOW, request, &placed->grant, sign);
    }
    if (spot->later != NULL) {
        spot_move(overlay, spot, VIEW_LATER, request, &placed->grant, sign);
    }
    if (placed->beside && sign > 0) {
        space_give(&spot->keep->left, &spot->keep->room, request, &placed->grant);
    } else if (placed->beside) {
        space_take(&spot->keep->left, &spot->keep->room, request, &placed->grant);
    }
}

const struct placed *overlay_take(struct overlay *overlay, const struct node *node,
                                  const struct asker *asker, uint32_t index)
{
    struct spot *spot = overlay_touch(overlay, node);
    struct space_room room;
    struct space usable;
    overlay_place(overlay, node, asker, &room, &usable);
    must(fit_count(&usable, asker->request, 1) == 1);

    struct placed *placed = arena_new(overlay->arena, struct placed, 1);
    *placed = (struct placed){.next = spot->placed, .asker = asker, .index = index};
    placed->claim = asker->view == VIEW_LATER;
    placed->beside = spot->keep != NULL && !may_use(spot->keep, asker);
    placed->passes = spot->keep != NULL && (asker->passes >> spot->keep->at & 1u) != 0;
    fit_grant(&usable, asker->request, &placed->grant);
    if (placed->claim) {
        overlay_leaving(overlay);
        (void)spot_later(overlay, spot);
    }
    placed_move(overlay, spot, placed, -1);
    holders_note(overlay, spot, placed, 1);
    spot->placed = placed;
    touched_add(overlay, node->id);
    return placed;
}

void overlay_undo(struct overlay *overlay, const struct node *node)
{
    struct spot *spot = overlay_find(overlay, node->id);
    must(spot != NULL);
    const struct placed *placed = spot->placed;
    must(placed != NULL);
    placed_move(overlay, spot, placed, 1);
    holders_note(overlay, spot, placed, -1);
    spot->placed = placed->next;
}

void overlay_leave(struct overlay *overlay, const struct node *node, const struct request *request,
                   const struct grant *grant, bool reuse)
{
    overlay_leaving(overlay);
    struct spot *spot = overlay_touch(overlay, node);
    (void)spot_later(overlay, spot);
    spot_move(overlay, spot, VIEW_LATER, request, grant, 1);
    if (reuse && spot->keep != NULL) {
        space_give(&spot->keep->left, &spot->keep->room, request, grant);
    }
}

void overlay_stay(struct overlay *overlay, const struct node *node, const struct request *request,
                  const struct grant *grant, bool reuse)
{
    struct spot *spot = overlay_find(overlay, node->id);
    must(spot != NULL);
    must(spot->later != NULL);
    spot_move(overlay, spot, VIEW_LATER, request, grant, -1);
    if (reuse && spot->keep != NULL) {
        space_take(&spot->keep->left, &spot->keep->room, request, grant);
    }
}
