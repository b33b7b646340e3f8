/* reserve_choice.c - for which nodes the holder of a reservation waits: the best nodes, as many as the holder needs.
 *
 *   nodes that the step has not touched ─▶ wait_index.h, in order ─┐
 *   nodes that the step has touched ─────▶ looked at, sorted ──────┴─▶ merged, taken from the front
 *
 * With caches off every node is looked at. The order, and so the choice, is the same. SPDX-License-Identifier: Apache-2.0 */
#include "base/arena.h"
#include "base/must.h"
#include "base/sort.h"
#include "core/model/oindex.h"
#include "core/model/pool.h"
#include "core/sched/keep/reserve_internal.h"
#include "core/sched/keep/wait_index.h"
#include "core/state/query.h"

/* The sooner end comes first (by_end), then the older node, then fewer ends for each instance of the holder, then the lower id. The
 * keys of wait_index.c must give the same order. */
static int candidate_compare(const struct candidate *a, const struct candidate *b, bool by_end)
{
    if (by_end && a->end_ms != b->end_ms) {
        return a->end_ms < b->end_ms ? -1 : 1;
    }
    if (a->newest_ms != b->newest_ms) {
        return a->newest_ms < b->newest_ms ? -1 : 1;
    }
    const uint64_t ends_a = (uint64_t)a->ends * b->count;
    const uint64_t ends_b = (uint64_t)b->ends * a->count;
    if (ends_a != ends_b) {
        return ends_a < ends_b ? -1 : 1;
    }
    return a->node->id.v < b->node->id.v ? -1 : a->node->id.v > b->node->id.v;
}

static int compare_by_end(const void *a, const void *b)
{
    return candidate_compare(a, b, true);
}

static int compare_by_age(const void *a, const void *b)
{
    return candidate_compare(a, b, false);
}

/* The candidates in order: a merge of a sorted list and of the untouched nodes of the index. */
struct candidates {
    const struct reserve_choice *choice;
    const struct wait_order *order; /* the index; NULL: all candidates are in the list */
    struct okey cursor;             /* where the walk through the index is */
    struct candidate head;          /* the next candidate of the index; node NULL: none is left */
    struct candidate *list;
    uint32_t room;
    uint32_t count;
    uint32_t at;
    uint64_t total; /* instances of the holder that find a place on all candidates together */
};

static void candidate_add(struct candidates *from, const struct node *node)
{
    struct candidate found;
    ++*from->choice->overlay->visited;
    if (reserve_candidate(from->choice, node, &found)) {
        must(from->count < from->room);
        from->list[from->count++] = found;
        from->total += found.count;
    }
}

/* With caches off: looks at every node that is not kept for another holder. */
static void nodes_add(struct candidates *from)
{
    struct overlay *overlay = from->choice->overlay;
    from->room = query_pool(overlay->core, overlay->pool)->node_count;
    from->list = arena_new(overlay->arena, struct candidate, from->room);
    node_id after = {0};
    const struct node *node;
    while ((node = query_pool_node_next(overlay->core, overlay->pool, after)) != NULL) {
        after = node->id;
        const struct spot *spot = overlay_find(overlay, node->id);
        if (spot == NULL || spot->keep == NULL) {
            candidate_add(from, node);
        }
    }
}

/* Looks at the nodes that this step has touched and that are not kept for another holder. */
static void spots_add(struct candidates *from)
{
    struct overlay *overlay = from->choice->overlay;
    from->room = overlay->spot_count;
    from->list = arena_new(overlay->arena, struct candidate, from->room);
    from->total = wait_index_total(from->order);
    for (uint32_t i = 0; i < overlay->spot_room; i++) {
        const struct spot *spot = overlay->spots[i];
        if (spot == NULL) {
            continue;
        }
        from->total -= wait_index_count(from->order, spot->place.node->id);
        if (spot->keep == NULL) {
            candidate_add(from, spot->place.node);
        }
    }
}

static void head_next(struct candidates *from)
{
    const struct overlay *overlay = from->choice->overlay;
    do {
        if (!wait_index_next(from->order, overlay->core, &from->cursor, &from->head)) {
            from->head.node = NULL;
            return;
        }
        ++*overlay->visited;
    } while (overlay_find(overlay, from->head.node->id) != NULL);
}

static void candidates_init(struct candidates *from, const struct reserve_choice *choice)
{
    struct capacity *capacity = choice->overlay->core->capacity;
    *from = (struct candidates){.choice = choice};
    if (capacity == NULL) {
        nodes_add(from);
    } else {
        from->order = wait_index_order(wait_index_of(capacity), choice);
        spots_add(from);
        head_next(from);
    }
    sort_items(from->list, from->count, sizeof *from->list,
               choice->by_end ? compare_by_end : compare_by_age);
}

static bool candidates_next(struct candidates *from, struct candidate *ret)
{
    const bool listed = from->at < from->count;
    if (!listed && from->head.node == NULL) {
        return false;
    }
    if (from->head.node == NULL || (listed && candidate_compare(&from->list[from->at], &from->head,
                                                                from->choice->by_end) < 0)) {
        *ret = from->list[from->at++];
    } else {
        *ret = from->head;
        head_next(from);
    }
    return true;
}

struct reserve_chosen reserve_choice_make(const struct reserve_choice *choice, bool whole)
{
    struct candidates from;
    candidates_init(&from, choice);
    const uint32_t wanted = choice->holder->count;
    struct reserve_chosen chosen = {.left = wanted};
    if (whole && from.total < wanted) {
        return chosen;
    }
    const struct pool *pool = query_pool(choice->overlay->core, choice->overlay->pool);
    const uint32_t room = wanted < pool->node_count ? wanted : pool->node_count;
    chosen.list = arena_new(choice->overlay->arena, struct candidate, room);
    struct candidate next;
    while (chosen.left > 0 && candidates_next(&from, &next)) {
        next.take = next.count < chosen.left ? next.count : chosen.left;
        chosen.left -= next.take;
        must(chosen.count < room);
        chosen.list[chosen.count++] = next;
    }
    return chosen;
}
