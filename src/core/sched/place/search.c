/* search.c - nodes in order of free amounts.
 *
 * The search walks the index of free amounts. A step has its own copy of the index, which shares memory until written. In the copy
 * touched nodes stand where they belong now, but only for measures of searches in this step (`tracked`). With caches off a scan finds
 * the same order. Keeps S3 of core/sched/README.md.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core/sched/place/search.h"

#include "base/must.h"
#include "core/model/fit.h"
#include "core/model/limits.h"
#include "core/model/oindex.h"
#include "core/model/shape.h"
#include "core/model/vector.h"
#include "core/sched/order/trail.h"
#include "core/sched/place/score.h"
#include "core/sched/place/search_better.h"
#include "core/sched/place/tight.h"
#include "core/state/capacity.h"
#include "core/state/key.h"
#include "core/state/query.h"

/* The resource by whose free amount nodes are ordered for a request, and the smallest amount of that resource that an instance takes. */
struct measure {
    uint16_t resource;
    int64_t wanted;
};

static struct measure measure_of(const struct overlay *overlay, const struct request *request)
{
    struct measure measure = {.resource = score_resource(request), .wanted = 1};
    if (measure.resource == RESOURCE_SLOTS) {
        measure.wanted = query_dim_slots(overlay->core, overlay->pool, request, SLOTS_LEAST);
    } else if (measure.resource == RESOURCE_CPU) {
        measure.wanted = request->cpu_milli;
    } else if (measure.resource == RESOURCE_MEMORY) {
        measure.wanted = request->memory_bytes;
    }
    for (uint32_t i = 0; i < request->named_count; i++) {
        if (request->named[i].resource.v == measure.resource) {
            measure.wanted = request->named[i].milli;
        }
    }
    must(measure.wanted > 0); /* searches divide by the amount */
    return measure;
}

/* ---- one step along the order ---- */

/* A position in the order of nodes by free amount of one resource. */
struct cursor {
    enum view view;
    uint16_t resource;
    uint64_t free;
    uint64_t node;
};

static bool cursor_before(struct cursor a, struct cursor b)
{
    return a.free != b.free ? a.free < b.free : a.node < b.node;
}

static int64_t node_free(const struct overlay *overlay, const struct node *node,
                         const struct cursor *cursor)
{
    const struct spot *spot = overlay_find(overlay, node->id);
    if (spot != NULL) {
        return score_free(overlay_space(spot, cursor->view), cursor->resource);
    }
    struct space now;
    space_now(node, &now);
    return score_free(&now, cursor->resource);
}

/* Moves the cursor to the next line above or below by a scan of all nodes. False: there is no such line. */
static bool scan_step(const struct overlay *overlay, struct cursor *cursor, bool up)
{
    bool found = false;
    struct cursor best = *cursor;
    struct okey key = {{overlay->pool.v, 0, 0, 0}};
    while (oindex_next(&overlay->core->orders[ORDER_POOL_NODE], key, &key) &&
           key.at[0] == overlay->pool.v) {
        const struct node *node = query_node(overlay->core, (node_id){(uint32_t)key.at[1]});
        must(node != NULL);
        const int64_t free = node_free(overlay, node, cursor);
        if (!fit_usable(node) || free <= 0) {
            continue;
        }
        const struct cursor line = {cursor->view, cursor->resource, (uint64_t)free, node->id.v};
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
    const struct oindex *index = &overlay->orders[cursor->view].index;
    struct okey key;
    must(overlay->orders[cursor->view].loaded);
    if (up ? !oindex_next(index, at, &key) : !oindex_prev(index, at, &key)) {
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
    ++*overlay->visited;
    return query_node(overlay->core, (node_id){(uint32_t)cursor->node});
}

/* ---- keeping the step's own index up to date ---- */

static void line_move(struct overlay *overlay, enum view view, const struct space *old,
                      const struct space *new, uint16_t resource)
{
    struct oindex *index = &overlay->orders[view].index;
    const int64_t from = score_free(old, resource);
    const int64_t to = score_free(new, resource);
    if (from == to || !fit_usable(new->node)) {
        return;
    }
    const uint64_t first = CAPACITY_KEY(overlay->pool, resource);
    const uint64_t node = new->node->id.v;
    must(from <= 0 || oindex_remove(index, (struct okey){{first, (uint64_t)from, node, 0}}));
    must(to <= 0 || oindex_insert(index, (struct okey){{first, (uint64_t)to, node, 0}}));
}

static uint32_t track_bit(uint16_t resource)
{
    const uint32_t bit = resource == RESOURCE_AUX ? RESOURCES_MAX : resource;
    must(bit <= RESOURCES_MAX);
    return bit;
}

static bool tracked(const struct overlay *overlay, enum view view, uint16_t resource)
{
    const uint32_t bit = track_bit(resource);
    return (overlay->orders[view].tracked[bit / 8] >> (bit % 8) & 1) != 0;
}

/* From here on the step's index has the lines of this resource with the changes of the step. */
static void track(struct overlay *overlay, enum view view, uint16_t resource)
{
    if (view == VIEW_LATER) {
        overlay_leaving(overlay);
    }
    if (!overlay->indexed || tracked(overlay, view, resource)) {
        return;
    }
    struct overlay_order *order = &overlay->orders[view];
    must(overlay->core->capacity != NULL);
    if (!order->loaded) {
        order->loaded = true;
        oindex_copy(&order->index, capacity_order(overlay->core->capacity));
    }
    const uint32_t bit = track_bit(resource);
    order->tracked[bit / 8] = (uint8_t)(order->tracked[bit / 8] | 1u << (bit % 8));
    for (uint32_t i = 0; i < overlay->spot_room; i++) {
        const struct spot *spot = overlay->spots[i];
        if (spot != NULL) {
            struct space old;
            space_now(spot->place.node, &old);
            line_move(overlay, view, &old, overlay_space(spot, view), resource);
        }
    }
}

void search_moved(struct overlay *overlay, enum view view, const struct space *old,
                  const struct space *new, const struct request *request)
{
    static const uint16_t plain[] = {RESOURCE_SLOTS, RESOURCE_CPU, RESOURCE_MEMORY, RESOURCE_AUX};
    if (!overlay->orders[view].loaded) {
        return;
    }
    must(old->node == new->node);
    for (uint32_t i = 0; i < sizeof plain / sizeof plain[0]; i++) {
        if (tracked(overlay, view, plain[i])) {
            line_move(overlay, view, old, new, plain[i]);
        }
    }
    for (uint32_t i = 0; i < request->named_count; i++) {
        if (tracked(overlay, view, request->named[i].resource.v)) {
            line_move(overlay, view, old, new, request->named[i].resource.v);
        }
    }
}

/* ---- searches ---- */

uint32_t search_within(const struct node *node, const struct asker *asker, uint32_t count)
{
    if (!asker->bounded || count == 0) {
        return count;
    }
    struct grant grant;
    fit_wants(node, asker->request, &grant);
    if (asker->even > 0 && fit_within(&asker->whole, &grant, asker->even) < asker->even) {
        return 0;
    }
    return fit_within(&asker->left, &grant, count);
}

uint32_t search_takes(const struct overlay *overlay, const struct node *node,
                      const struct asker *asker, uint32_t max)
{
    struct space_room room;
    struct space place;
    overlay_place(overlay, node, asker, &room, &place);
    return search_within(node, asker, fit_count(&place, asker->request, max));
}

/* The first node behind the cursor that takes `count` instances. The cursor then stands at that node. */
static const struct node *search_from(const struct overlay *overlay, const struct asker *asker,
                                      uint32_t count, struct cursor *cursor)
{
    const struct node *node;
    while ((node = cursor_step(overlay, cursor, true)) != NULL) {
        if (search_takes(overlay, node, asker, count) == count) {
            return node;
        }
    }
    return NULL;
}

/* The first node that takes one instance, among the nodes before the trail's end that were touched after the trail was made. */
static const struct node *search_touched(const struct overlay *overlay, const struct asker *asker,
                                         struct measure measure)
{
    const struct trail *trail = asker->trail;
    struct cursor best = {asker->view, measure.resource, trail->free, trail->node};
    const struct node *found = NULL;
    for (uint32_t i = trail->touched; i < overlay->touched_count; i++) {
        const struct spot *spot = overlay_find(overlay, overlay->touched[i]);
        must(spot != NULL);
        const int64_t free = score_free(&spot->place, measure.resource);
        const struct node *node = spot->place.node;
        ++*overlay->visited;
        const struct cursor line = {asker->view, measure.resource, (uint64_t)free, node->id.v};
        if (free >= measure.wanted && cursor_before(line, best) &&
            search_takes(overlay, node, asker, 1) == 1) {
            best = line;
            found = node;
        }
    }
    return found;
}

/* The first node that takes one instance. The search skips the nodes that an earlier search for the shape has refused. */
static const struct node *search_trail(const struct overlay *overlay, const struct asker *asker,
                                       struct measure measure, struct cursor *cursor)
{
    enum { TOUCHED_MAX = 64 };
    struct trail *trail = asker->trail;
    must(trail->touched <= overlay->touched_count);
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

/* The emptiest node that takes `count` instances. Of equally empty nodes the lowest id is first. */
static const struct node *search_emptiest(const struct overlay *overlay, const struct asker *asker,
                                          uint32_t count, int64_t wanted)
{
    must(wanted > 0);
    struct cursor level = {asker->view, score_resource(asker->request), UINT64_MAX, UINT64_MAX};
    while (cursor_step(overlay, &level, false) != NULL && level.free >= (uint64_t)wanted) {
        struct cursor at = {level.view, level.resource, level.free, 0};
        const struct node *node;
        while ((node = cursor_step(overlay, &at, true)) != NULL && at.free == level.free) {
            if (search_takes(overlay, node, asker, count) == count) {
                return node;
            }
        }
        level.node = 0;
    }
    return NULL;
}

/* ---- shapes that fit on no node ---- */

/* The asker's shape, if misses of the asker's request may be remembered for the shape; else NULL. */
static const struct shape *remembered_shape(const struct overlay *overlay,
                                            const struct asker *asker)
{
    if (!overlay->indexed || asker->view != VIEW_NOW || asker->task == NULL) {
        return NULL;
    }
    const struct shape *shape = query_task_shape(overlay->core, asker->task->shape);
    return asker->request == &shape->request && shape->pool.v == overlay->pool.v ? shape : NULL;
}

/* Is it known that only nodes logged from `*ret_at` on can take an instance? What the state notes as a miss stays a miss during the step, because
 * nodes only lose room within a step. */
static bool known_no_node(const struct overlay *overlay, const struct asker *asker,
                          uint64_t *ret_at)
{
    const struct shape *shape = remembered_shape(overlay, asker);
    return shape != NULL && capacity_no_node(overlay->core->capacity, shape, ret_at);
}

/* Remembers that no node takes an instance of the asker. A miss is not remembered if bounds, kept places or claims may have caused it, or
 * if the step touched so many nodes that they would fill the log. */
static void no_node_note(struct overlay *overlay, const struct asker *asker)
{
    enum { TOUCHED_MAX = 16 };
    const struct shape *shape = remembered_shape(overlay, asker);
    if (shape == NULL || overlay->keeping || asker->bounded || overlay->leaving_known ||
        overlay->core->claims.count > 0 || overlay->touched_count > TOUCHED_MAX) {
        return;
    }
    struct capacity *capacity = overlay->core->capacity;
    must(overlay->touched_logged <= overlay->touched_count);
    if (overlay->touched_logged == 0) {
        overlay->log_at = capacity_log_end(capacity);
    }
    for (; overlay->touched_logged < overlay->touched_count; overlay->touched_logged++) {
        capacity_log_add(capacity, overlay->pool, overlay->touched[overlay->touched_logged]);
    }
    capacity_no_node_note(capacity, shape, overlay->log_at);
}

/* The next logged node from `*at` on that may take work. `line` gets the position of the node in the order. */
static const struct node *logged_next(const struct overlay *overlay, uint64_t *at,
                                      struct cursor *line)
{
    node_id id;
    while ((id = capacity_log_next(overlay->core->capacity, overlay->pool, at)).v != 0) {
        const struct node *node = query_node(overlay->core, id);
        must(node != NULL);
        ++*overlay->visited;
        if (node->pool.v == overlay->pool.v && fit_usable(node)) {
            line->node = id.v;
            line->free = (uint64_t)node_free(overlay, node, line);
            return node;
        }
    }
    return NULL;
}

/* The first node in the order, among the nodes logged from `at` on, that takes `count` instances. */
static const struct node *search_logged(const struct overlay *overlay, const struct asker *asker,
                                        uint32_t count, uint64_t at)
{
    must(asker->view == VIEW_NOW); /* misses are remembered for VIEW_NOW only */
    struct cursor line = {.view = VIEW_NOW,
                          .resource = measure_of(overlay, asker->request).resource};
    struct cursor best = line;
    const struct node *found = NULL;
    const struct node *node;
    while ((node = logged_next(overlay, &at, &line)) != NULL) {
        const bool ahead = overlay->spread && line.free != best.free ? line.free > best.free
                                                                     : cursor_before(line, best);
        if ((found == NULL || ahead) && search_takes(overlay, node, asker, count) == count) {
            best = line;
            found = node;
        }
    }
    return found;
}

static uint32_t search_logged_most(const struct overlay *overlay, const struct asker *asker,
                                   uint32_t max, uint64_t at)
{
    struct cursor line = {.view = VIEW_NOW,
                          .resource = measure_of(overlay, asker->request).resource};
    uint32_t most = 0;
    const struct node *node;
    while (most < max && (node = logged_next(overlay, &at, &line)) != NULL) {
        const uint32_t takes = search_takes(overlay, node, asker, max);
        most = takes > most ? takes : most;
    }
    return most;
}

static const struct node *search_all(struct overlay *overlay, const struct asker *asker,
                                     uint32_t count)
{
    const struct measure measure = measure_of(overlay, asker->request);
    int64_t wanted;
    if (__builtin_mul_overflow(measure.wanted, (int64_t)count, &wanted)) {
        return NULL;
    }
    must(wanted > 0);
    track(overlay, asker->view, measure.resource);
    if (overlay->spread) {
        return search_emptiest(overlay, asker, count, wanted);
    }
    struct cursor cursor = {asker->view, measure.resource, (uint64_t)wanted - 1, UINT64_MAX};
    /* Kept places may be free for one task of a shape and not for the next, so a trail does not hold then. */
    const bool trail = count == 1 && asker->trail != NULL && overlay->indexed && !overlay->keeping;
    return trail ? search_trail(overlay, asker, measure, &cursor)
                 : search_from(overlay, asker, count, &cursor);
}

const struct node *search_first(struct overlay *overlay, const struct asker *asker, uint32_t count)
{
    must(count > 0);
    if (overlay->tightest) {
        return tight_first(overlay, asker, count);
    }
    uint64_t at;
    const struct node *node = known_no_node(overlay, asker, &at)
                                  ? search_logged(overlay, asker, count, at)
                                  : search_all(overlay, asker, count);
    if (node == NULL && count == 1) {
        no_node_note(overlay, asker);
    }
    return node == NULL ? NULL : search_better(overlay, asker, count, node);
}

uint32_t search_most(struct overlay *overlay, const struct asker *asker, uint32_t max)
{
    must(max > 0);
    uint64_t at;
    if (known_no_node(overlay, asker, &at)) {
        return search_logged_most(overlay, asker, max, at);
    }
    const struct measure measure = measure_of(overlay, asker->request);
    track(overlay, asker->view, measure.resource);
    uint32_t most = 0;
    struct cursor cursor = {asker->view, measure.resource, UINT64_MAX, UINT64_MAX};
    const struct node *node;
    while (most < max && (node = cursor_step(overlay, &cursor, false)) != NULL) {
        /* No node further down can take more than its free amount allows. */
        if (cursor.free / (uint64_t)measure.wanted <= most) {
            break;
        }
        const uint32_t takes = search_takes(overlay, node, asker, max);
        most = takes > most ? takes : most;
    }
    return most;
}

const struct node *search_level(struct overlay *overlay, const struct asker *asker, int64_t free,
                                node_id after, uint32_t count)
{
    must(free > 0); /* nodes with nothing free have no line */
    const struct measure measure = measure_of(overlay, asker->request);
    track(overlay, asker->view, measure.resource);
    struct cursor cursor = {asker->view, measure.resource, (uint64_t)free, after.v};
    for (uint32_t i = 0; i < SEARCH_LEVEL_MAX; i++) {
        const struct node *node = cursor_step(overlay, &cursor, true);
        if (node == NULL || cursor.free != (uint64_t)free) {
            return NULL;
        }
        if (search_takes(overlay, node, asker, count) == count) {
            return node;
        }
    }
    return NULL;
}

uint32_t search_total(struct overlay *overlay, const struct asker *asker, uint32_t max)
{
    const struct measure measure = measure_of(overlay, asker->request);
    track(overlay, asker->view, measure.resource);
    uint32_t total = 0;
    struct cursor cursor = {asker->view, measure.resource, (uint64_t)measure.wanted - 1,
                            UINT64_MAX};
    const struct node *node;
    while (total < max && (node = cursor_step(overlay, &cursor, true)) != NULL) {
        total += search_takes(overlay, node, asker, max - total);
    }
    return total;
}

const struct node *search_step(struct overlay *overlay, const struct asker *asker,
                               struct search_at *at, bool up)
{
    struct cursor cursor = {asker->view, score_resource(asker->request), at->free, at->node};
    track(overlay, asker->view, cursor.resource);
    const struct node *node = cursor_step(overlay, &cursor, up);
    *at = (struct search_at){cursor.free, cursor.node};
    return node;
}
