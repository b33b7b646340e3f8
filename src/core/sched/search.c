/* search.c - nodes in order of free amounts.
 *
 * The search walks the index of free amounts. A step has its own copy of it (copies share memory
 * until written), in which touched nodes stand where they belong now, but only for the resources
 * that something was measured by in this step; with caches off the same order is found by scanning.
 * Keeps S3 of README.md: one order, with and without the index and the trails.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core/sched/search.h"

#include "base/checked.h"
#include "core/core_internal.h"

struct measure search_measure(const struct request *request)
{
    if (request->slots_milli > 0) {
        return (struct measure){RESOURCE_SLOTS, request->slots_milli};
    }
    for (uint32_t i = 0; i < request->named_count; i++) {
        if (request->named[i].milli > 0) {
            return (struct measure){request->named[i].resource.v, request->named[i].milli};
        }
    }
    if (request->cpu_milli > 0) {
        return (struct measure){RESOURCE_CPU, request->cpu_milli};
    }
    if (request->memory_bytes > 0) {
        return (struct measure){RESOURCE_MEMORY, request->memory_bytes};
    }
    return (struct measure){RESOURCE_AUX, 1};
}

static int64_t amount_free(const struct place *place, uint16_t resource)
{
    switch (resource) {
    case RESOURCE_SLOTS:
        return place->slots_free;
    case RESOURCE_CPU:
        return place->cpu_free;
    case RESOURCE_MEMORY:
        return place->memory_free;
    case RESOURCE_AUX:
        return (int64_t)place->node->aux_max - (int64_t)place->aux_used;
    }
    for (uint32_t i = 0; i < place->node->named_count; i++) {
        if (place->node->named[i].resource.v == resource) {
            return place->named_free[i];
        }
    }
    return 0;
}

/* ---- one step along the order ---- */

/* A position in the order of nodes by free amount of one resource. */
struct cursor {
    uint16_t resource;
    uint64_t free;
    uint64_t node;
};

static bool cursor_before(struct cursor a, struct cursor b)
{
    return a.free != b.free ? a.free < b.free : a.node < b.node;
}

static int64_t node_free(const struct overlay *overlay, const struct node *node, uint16_t resource)
{
    const struct spot *spot = overlay_find(overlay, node->id);
    if (spot != NULL) {
        return amount_free(&spot->place, resource);
    }
    struct place now;
    place_now(node, &now);
    return amount_free(&now, resource);
}

/* The line next to `cursor`, above it or below it, by looking at all of them. */
static bool scan_step(const struct overlay *overlay, struct cursor *cursor, bool up)
{
    bool found = false;
    struct cursor best = *cursor;
    struct okey key = {{overlay->pool.v, 0, 0, 0}};
    while (oindex_next(&overlay->core->orders[ORDER_POOL_NODE], key, &key) &&
           key.at[0] == overlay->pool.v) {
        const struct node *node = core_node(overlay->core, (node_id){(uint32_t)key.at[1]});
        const int64_t free = node_free(overlay, node, cursor->resource);
        if (!fit_usable(node) || free <= 0) {
            continue;
        }
        const struct cursor line = {cursor->resource, (uint64_t)free, node->id.v};
        const bool ahead = up ? cursor_before(*cursor, line) : cursor_before(line, *cursor);
        const bool nearer = up ? cursor_before(line, best) : cursor_before(best, line);
        if (ahead && (!found || nearer)) {
            best = line;
            found = true;
        }
    }
    *cursor = best;
    return found;
}

static bool index_step(const struct overlay *overlay, struct cursor *cursor, bool up)
{
    const uint64_t first = CAPACITY_KEY(overlay->pool, cursor->resource);
    const struct okey at = {{first, cursor->free, cursor->node, 0}};
    struct okey key;
    if (up ? !oindex_next(&overlay->order, at, &key) : !oindex_prev(&overlay->order, at, &key)) {
        return false;
    }
    if (key.at[0] != first) {
        return false;
    }
    cursor->free = key.at[1];
    cursor->node = key.at[2];
    return true;
}

static const struct node *cursor_step(const struct overlay *overlay, struct cursor *cursor, bool up)
{
    if (overlay->indexed ? !index_step(overlay, cursor, up) : !scan_step(overlay, cursor, up)) {
        return NULL;
    }
    return core_node(overlay->core, (node_id){(uint32_t)cursor->node});
}

/* ---- keeping the step's own index up to date ---- */

static void line_move(struct overlay *overlay, const struct place *old, const struct place *new,
                      uint16_t resource)
{
    const int64_t from = amount_free(old, resource);
    const int64_t to = amount_free(new, resource);
    if (from == to) {
        return;
    }
    const uint64_t first = CAPACITY_KEY(overlay->pool, resource);
    const uint64_t node = new->node->id.v;
    if (from > 0) {
        must(oindex_remove(&overlay->order, (struct okey){{first, (uint64_t)from, node, 0}}));
    }
    if (to > 0) {
        must(oindex_insert(&overlay->order, (struct okey){{first, (uint64_t)to, node, 0}}));
    }
}

static uint32_t track_bit(uint16_t resource)
{
    const uint32_t bit = resource == RESOURCE_AUX ? RESOURCES_MAX : resource;
    must(bit <= RESOURCES_MAX);
    return bit;
}

static bool tracked(const struct overlay *overlay, uint16_t resource)
{
    const uint32_t bit = track_bit(resource);
    return (overlay->tracked[bit / 8] >> (bit % 8) & 1) != 0;
}

/* From here on the step's index has the lines of this resource as the step has changed them. */
static void track(struct overlay *overlay, uint16_t resource)
{
    if (!overlay->indexed || tracked(overlay, resource)) {
        return;
    }
    const uint32_t bit = track_bit(resource);
    overlay->tracked[bit / 8] = (uint8_t)(overlay->tracked[bit / 8] | 1u << (bit % 8));
    for (uint32_t i = 0; i < overlay->spot_room; i++) {
        const struct spot *spot = overlay->spots[i];
        if (spot != NULL) {
            struct place old;
            place_now(spot->place.node, &old);
            line_move(overlay, &old, &spot->place, resource);
        }
    }
}

void search_moved(struct overlay *overlay, const struct place *old, const struct spot *spot,
                  const struct request *request)
{
    static const uint16_t plain[] = {RESOURCE_SLOTS, RESOURCE_CPU, RESOURCE_MEMORY, RESOURCE_AUX};
    if (!overlay->indexed) {
        return;
    }
    for (uint32_t i = 0; i < sizeof plain / sizeof plain[0]; i++) {
        if (tracked(overlay, plain[i])) {
            line_move(overlay, old, &spot->place, plain[i]);
        }
    }
    for (uint32_t i = 0; i < request->named_count; i++) {
        if (tracked(overlay, request->named[i].resource.v)) {
            line_move(overlay, old, &spot->place, request->named[i].resource.v);
        }
    }
}

/* ---- searches ---- */

static uint32_t node_takes(const struct overlay *overlay, const struct node *node,
                           const struct asker *asker, uint32_t max)
{
    struct place_room room;
    struct place place;
    overlay_place(overlay, node, asker->end_ms, &room, &place);
    return fit_count(&place, asker->request, max);
}

/* The first node behind the cursor that takes `count`; the cursor is on it then. */
static const struct node *search_from(const struct overlay *overlay, const struct asker *asker,
                                      uint32_t count, struct cursor *cursor)
{
    const struct node *node;
    while ((node = cursor_step(overlay, cursor, true)) != NULL) {
        if (node_takes(overlay, node, asker, count) == count) {
            return node;
        }
    }
    return NULL;
}

/* The first node that takes one instance among those touched since the trail was laid and standing
 * before its end now. */
static const struct node *search_touched(const struct overlay *overlay, const struct asker *asker,
                                         struct measure measure)
{
    const struct trail *trail = asker->trail;
    struct cursor best = {measure.resource, trail->free, trail->node};
    const struct node *found = NULL;
    for (uint32_t i = trail->touched; i < overlay->touched_count; i++) {
        const struct spot *spot = overlay_find(overlay, overlay->touched[i]);
        const int64_t free = amount_free(&spot->place, measure.resource);
        const struct node *node = spot->place.node;
        const struct cursor line = {measure.resource, (uint64_t)free, node->id.v};
        if (free >= measure.wanted && cursor_before(line, best) &&
            node_takes(overlay, node, asker, 1) == 1) {
            best = line;
            found = node;
        }
    }
    return found;
}

/* As search_from() from the start, for one instance, without asking again what has said no. */
static const struct node *search_trail(const struct overlay *overlay, const struct asker *asker,
                                       struct measure measure, struct cursor *cursor)
{
    enum { TOUCHED_MAX = 64 };
    struct trail *trail = asker->trail;
    if (trail->valid && overlay->touched_count - trail->touched <= TOUCHED_MAX) {
        const struct node *node = search_touched(overlay, asker, measure);
        if (node != NULL) {
            return node;
        }
        cursor->free = trail->free;
        cursor->node = trail->node - 1;
    }
    const struct node *node = search_from(overlay, asker, 1, cursor);
    *trail = (struct trail){node != NULL, cursor->free, cursor->node, overlay->touched_count};
    return node;
}

const struct node *search_first(struct overlay *overlay, const struct asker *asker, uint32_t count)
{
    must(count > 0);
    const struct measure measure = search_measure(asker->request);
    int64_t wanted;
    if (__builtin_mul_overflow(measure.wanted, (int64_t)count, &wanted)) {
        return NULL;
    }
    track(overlay, measure.resource);
    struct cursor cursor = {measure.resource, (uint64_t)wanted - 1, UINT64_MAX};
    /* What is kept may be free for one task of a shape and not for the next. */
    const bool trail = count == 1 && asker->trail != NULL && overlay->indexed && !overlay->keeping;
    return trail ? search_trail(overlay, asker, measure, &cursor)
                 : search_from(overlay, asker, count, &cursor);
}

uint32_t search_most(struct overlay *overlay, const struct asker *asker, uint32_t max)
{
    must(max > 0);
    const struct measure measure = search_measure(asker->request);
    track(overlay, measure.resource);
    uint32_t most = 0;
    struct cursor cursor = {measure.resource, UINT64_MAX, UINT64_MAX};
    const struct node *node;
    while (most < max && (node = cursor_step(overlay, &cursor, false)) != NULL) {
        /* No node further down can take more than its free amount allows. */
        if (cursor.free / (uint64_t)measure.wanted <= most) {
            break;
        }
        const uint32_t takes = node_takes(overlay, node, asker, max);
        most = takes > most ? takes : most;
    }
    return most;
}

uint32_t search_total(struct overlay *overlay, const struct asker *asker, uint32_t max)
{
    const struct measure measure = search_measure(asker->request);
    track(overlay, measure.resource);
    uint32_t total = 0;
    struct cursor cursor = {measure.resource, (uint64_t)measure.wanted - 1, UINT64_MAX};
    const struct node *node;
    while (total < max && (node = cursor_step(overlay, &cursor, true)) != NULL) {
        total += node_takes(overlay, node, asker, max - total);
    }
    return total;
}
