/* overlay.c - touched nodes: what is free on them now, and what of it is kept.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core/sched/overlay.h"

#include "base/checked.h"
#include "base/hash.h"
#include "core/core_internal.h"
#include "core/sched/search.h"

enum { SPOTS_FIRST = 16 };

void overlay_init(struct overlay *overlay, const struct core *core, pool_id pool,
                  struct arena *arena)
{
    *overlay = (struct overlay){.core = core, .pool = pool, .arena = arena};
    overlay->indexed = core->capacity != NULL;
    if (overlay->indexed) {
        oindex_copy(&overlay->order, capacity_order(core->capacity));
    } else {
        oindex_init(&overlay->order);
    }
}

void overlay_done(struct overlay *overlay)
{
    oindex_done(&overlay->order);
}

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
    struct place now;
    place_now(node, &now);
    spot = arena_new(overlay->arena, struct spot, 1);
    place_copy(&now, &spot->room, &spot->place);
    overlay->spots[spot_index(overlay, node->id)] = spot;
    overlay->spot_count++;
    return spot;
}

/* ---- places ---- */

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* What is free both now and when the holder starts. */
static void place_both(const struct place *now, const struct place *later, struct place_room *room,
                       struct place *ret)
{
    place_copy(now, room, ret);
    ret->slots_free = least(now->slots_free, later->slots_free);
    ret->cpu_free = least(now->cpu_free, later->cpu_free);
    ret->memory_free = least(now->memory_free, later->memory_free);
    ret->aux_used = now->aux_used > later->aux_used ? now->aux_used : later->aux_used;
    for (uint32_t i = 0; i < now->node->named_count; i++) {
        room->named_free[i] = least(now->named_free[i], later->named_free[i]);
    }
    for (uint32_t i = 0; i < now->node->device_count; i++) {
        if (later->device_free[i] < now->device_free[i]) {
            room->device_free[i] = later->device_free[i];
        }
    }
}

/* May an instance that ends then use what is kept? */
static bool ends_before_holder(const struct overlay *overlay, int64_t end_ms)
{
    return overlay->keep_end_known && end_ms <= overlay->keep_end_ms;
}

void overlay_place(const struct overlay *overlay, const struct node *node, int64_t end_ms,
                   struct place_room *room, struct place *ret)
{
    const struct spot *spot = overlay_find(overlay, node->id);
    if (spot == NULL) {
        place_now(node, ret);
    } else if (spot->keep == NULL || ends_before_holder(overlay, end_ms)) {
        *ret = spot->place;
    } else {
        place_both(&spot->place, &spot->keep->left, room, ret);
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
    overlay->touched[overlay->touched_count++] = node;
}

const struct placed *overlay_take(struct overlay *overlay, const struct node *node,
                                  const struct asker *asker, uint32_t index)
{
    struct spot *spot = overlay_touch(overlay, node);
    struct place_room room;
    struct place usable;
    overlay_place(overlay, node, asker->end_ms, &room, &usable);
    must(fit_count(&usable, asker->request, 1) == 1);

    struct placed *placed = arena_new(overlay->arena, struct placed, 1);
    *placed = (struct placed){.next = spot->placed, .asker = asker, .index = index};
    fit_grant(&usable, asker->request, &placed->grant);
    struct place_room old_room;
    struct place old;
    place_copy(&spot->place, &old_room, &old);
    place_take(&spot->place, &spot->room, asker->request, &placed->grant);
    placed->beside = spot->keep != NULL && !ends_before_holder(overlay, asker->end_ms);
    if (placed->beside) {
        place_take(&spot->keep->left, &spot->keep->room, asker->request, &placed->grant);
    }
    spot->placed = placed;
    touched_add(overlay, node->id);
    search_moved(overlay, &old, spot, asker->request);
    return placed;
}

void overlay_undo(struct overlay *overlay, const struct node *node)
{
    struct spot *spot = overlay_find(overlay, node->id);
    must(spot != NULL);
    const struct placed *placed = spot->placed;
    must(placed != NULL);
    const struct request *request = placed->asker->request;
    struct place_room old_room;
    struct place old;
    place_copy(&spot->place, &old_room, &old);
    place_give(&spot->place, &spot->room, request, &placed->grant);
    if (placed->beside) {
        place_give(&spot->keep->left, &spot->keep->room, request, &placed->grant);
    }
    spot->placed = placed->next;
    search_moved(overlay, &old, spot, request);
}
