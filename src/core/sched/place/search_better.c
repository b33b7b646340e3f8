/* search_better.c - see search_better.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core/sched/place/search_better.h"

#include "base/must.h"
#include "core/model/devices.h"
#include "core/model/fit.h"
#include "core/model/oindex.h"
#include "core/model/resource.h"
#include "core/sched/place/score.h"
#include "core/sched/place/search.h"
#include "core/state/capacity.h"
#include "core/state/key.h"
#include "core/state/query.h"

/* A node as the asker finds it. */
struct found {
    const struct node *node;
    struct space_room room;
    struct space place;
};

static void found_set(const struct overlay *overlay, const struct asker *asker,
                      const struct node *node, struct found *ret)
{
    ret->node = node;
    overlay_place(overlay, node, asker, &ret->room, &ret->place);
}

/* ---- parts of devices ---- */

static bool asks_part(const struct request *request)
{
    return request->share_devices > 0 ||
           (request->needs_gpu && request->slots_milli > 0 && request->slots_milli < SLOT_MILLI);
}

/* For a request for parts of devices: returns whether the node has enough devices that other
 * instances share already and that have room for one more part. */
static bool fits_shared(const struct found *found, const struct request *request)
{
    const uint32_t wanted = request->share_devices > 0 ? request->share_devices : 1;
    const int64_t each = fit_slots(found->node, request) / (int64_t)wanted;
    uint32_t shared = 0;
    for (uint32_t i = 0; i < found->node->device_count; i++) {
        const int64_t free = found->place.device_free[i];
        const bool chosen = request->device_mask == 0 || (request->device_mask >> i & 1) != 0;
        shared += chosen && free < SLOT_MILLI && free >= each;
    }
    return shared >= wanted;
}

/* The first node of the order on which the parts go to shared devices; NULL: none of the first nodes. */
static const struct node *first_shared(struct overlay *overlay, const struct asker *asker,
                                       uint32_t count)
{
    struct search_at at = SEARCH_BOTTOM;
    for (uint32_t i = 0; i < SEARCH_LEVEL_MAX; i++) {
        struct found found;
        const struct node *node = search_step(overlay, asker, &at, true);
        if (node == NULL) {
            return NULL;
        }
        found_set(overlay, asker, node, &found);
        if (fits_shared(&found, asker->request) &&
            search_takes(overlay, node, asker, count) == count) {
            return node;
        }
    }
    return NULL;
}

/* ---- nodes without slots ---- */

/* Looks at the first SEARCH_LEVEL_MAX nodes without slots. Returns the one that takes the instances
 * and that the placement prefers. NULL: none of these nodes takes the instances. */
static const struct node *first_without_slots(struct overlay *overlay, const struct asker *asker,
                                              uint32_t count)
{
    const struct oindex *sizes = &overlay->core->orders[ORDER_NODE_SIZE];
    const uint16_t resource = score_resource(asker->request);
    const struct node *best = NULL;
    int64_t best_free = 0;
    /* In the order by size the nodes without slots are the last nodes of their pool. */
    struct okey key = {{overlay->pool.v, ~(uint64_t)0, 0, 0}};
    bool more = oindex_from(sizes, key, &key);
    for (uint32_t i = 0; more && key.at[0] == overlay->pool.v && i < SEARCH_LEVEL_MAX; i++) {
        const struct node *node = query_node(overlay->core, (node_id){(uint32_t)key.at[2]});
        must(node != NULL);
        must(node->slots_milli == 0);
        if (fit_usable(node) && search_takes(overlay, node, asker, count) == count) {
            struct found found;
            found_set(overlay, asker, node, &found);
            const int64_t free = score_free(&found.place, resource);
            if (best == NULL || (overlay->spread ? free > best_free : free < best_free)) {
                best = node;
                best_free = free;
            }
        }
        more = oindex_next(sizes, key, &key);
    }
    return best;
}

/* ---- scores ---- */

/* Does some node of the pool have another number of slots than the others? */
static bool sizes_differ(const struct overlay *overlay)
{
    const struct oindex *sizes = &overlay->core->orders[ORDER_NODE_SIZE];
    struct okey largest = {{overlay->pool.v, 0, 0, 0}};
    struct okey smallest = {{overlay->pool.v + 1, 0, 0, 0}};
    return oindex_next(sizes, largest, &largest) && oindex_prev(sizes, smallest, &smallest) &&
           largest.at[0] == smallest.at[0] && largest.at[1] != smallest.at[1];
}

/* Of two nodes with equal scores: with `spread` the node that has more free is before the other, then the lower id. */
static bool tie_before(const struct overlay *overlay, uint16_t resource, const struct found *a,
                       const struct found *b)
{
    const int64_t free_a = score_free(&a->place, resource);
    const int64_t free_b = score_free(&b->place, resource);
    if (overlay->spread && resource == RESOURCE_SLOTS && free_a != free_b) {
        return free_a > free_b;
    }
    return a->node->id.v < b->node->id.v;
}

/* The node with the best score, of `first` and the first nodes of the order that take the instances. */
static const struct node *best_score(struct overlay *overlay, const struct asker *asker,
                                     uint32_t count, const struct node *first)
{
    const bool up = !overlay->spread;
    const enum pool_placement placement = up ? PLACEMENT_PACK : PLACEMENT_SPREAD;
    struct search_at at = up ? SEARCH_BOTTOM : SEARCH_TOP;
    const uint16_t resource = score_resource(asker->request);
    struct found best;
    found_set(overlay, asker, first, &best);
    struct score score = score_of(placement, &best.place, asker->request);
    for (uint32_t i = 0; i < SEARCH_LEVEL_MAX; i++) {
        const struct node *node = search_step(overlay, asker, &at, up);
        if (node == NULL) {
            break;
        }
        struct found found;
        found_set(overlay, asker, node, &found);
        const struct score own = score_of(placement, &found.place, asker->request);
        const int order = score_compare(own, score);
        if ((order > 0 || (order == 0 && tie_before(overlay, resource, &found, &best))) &&
            search_takes(overlay, node, asker, count) == count) {
            found_set(overlay, asker, node,
                      &best); /* not `best = found`: a struct found points into itself */
            score = own;
        }
    }
    return best.node;
}

const struct node *search_better(struct overlay *overlay, const struct asker *asker, uint32_t count,
                                 const struct node *first)
{
    const struct request *request = asker->request;
    const uint16_t resource = score_resource(request);
    const struct node *better = NULL;
    if (resource == RESOURCE_AUX) {
        return best_score(overlay, asker, count, first);
    }
    if ((resource == RESOURCE_CPU || resource == RESOURCE_MEMORY) && first->slots_milli > 0) {
        better = first_without_slots(overlay, asker, count);
    } else if (resource == RESOURCE_SLOTS && !overlay->spread && asks_part(request)) {
        better = first_shared(overlay, asker, count);
    } else if (resource == RESOURCE_SLOTS && overlay->spread && sizes_differ(overlay)) {
        better = best_score(overlay, asker, count, first);
    }
    return better != NULL ? better : first;
}
