/* arrange_leaf.c - places for the instances of one leaf in one scope: few parts of the scope, in each part nodes in the pool's order.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/arena.h"
#include "base/must.h"
#include "base/sort.h"
#include "core/model/node.h"
#include "core/sched/place/arrange_internal.h"
#include "core/state/query.h"
#include "core/state/topology.h"

/* A node that takes instances of a leaf. */
struct site {
    const struct node *node;
    uint32_t takes; /* number of instances */
    int64_t order;  /* ops->order() of the node */
};

/* ---- nodes of a scope ---- */

static const struct node *scope_node(const struct nodeset *nodeset, struct scope scope,
                                     node_id after)
{
    return scope.domain.v == 0 ? query_pool_node_next(nodeset->core, nodeset->pool->id, after)
                               : topology_domain_node_next(nodeset->core, scope.domain, after);
}

uint32_t arrange_leaf_scope_size(const struct nodeset *nodeset, struct scope scope)
{
    return scope.domain.v == 0 ? nodeset->pool->node_count
                               : topology_domain(nodeset->core, scope.domain)->node_count;
}

static struct site *sites_of(const struct arrange_search *search, uint32_t leaf, struct scope scope,
                             uint32_t *ret_count)
{
    struct nodeset *nodeset = search->nodeset;
    const uint32_t size = arrange_leaf_scope_size(nodeset, scope);
    struct site *sites = arena_new(nodeset->arena, struct site, size);
    uint32_t count = 0;
    const struct node *node = NULL;
    while ((node = scope_node(nodeset, scope, node == NULL ? (node_id){0} : node->id)) != NULL) {
        const uint32_t takes = nodeset->ops->takes(nodeset, leaf, node, search->parts[leaf].count);
        if (takes > 0) {
            must(count < size);
            sites[count++] = (struct site){node, takes, nodeset->ops->order(nodeset, leaf, node)};
        }
    }
    *ret_count = count;
    return sites;
}

/* ---- one leaf on some nodes ---- */

/* Placements other than `spread`: the fullest node first, as for tasks without a topology. */
static bool packs_before(const struct site *a, const struct site *b)
{
    return a->order != b->order ? a->order < b->order : a->node->id.v < b->node->id.v;
}

/* Placement `spread`: the emptiest node first. */
static bool spreads_before(const struct site *a, const struct site *b)
{
    return a->order != b->order ? a->order > b->order : a->node->id.v < b->node->id.v;
}

static struct site *site_best(const struct nodeset *nodeset, struct site *sites, uint32_t count)
{
    struct site *best = NULL;
    for (uint32_t i = 0; i < count; i++) {
        if (sites[i].takes > 0 &&
            (best == NULL ||
             (nodeset->spread ? spreads_before(&sites[i], best) : packs_before(&sites[i], best)))) {
            best = &sites[i];
        }
    }
    return best;
}

/* Places as many of `count` instances as the sites take. Returns the number of placed instances. */
static uint32_t sites_fill(struct nodeset *nodeset, uint32_t leaf, struct site *sites,
                           uint32_t site_count, const uint32_t *indices, uint32_t count)
{
    uint32_t placed = 0;
    while (placed < count) {
        struct site *best = site_best(nodeset, sites, site_count);
        if (best == NULL) {
            return placed;
        }
        /* The node may take fewer now than when the site was made, because earlier placements used up the accounts' bounds. */
        const uint32_t most = nodeset->spread ? 1 : count - placed;
        const uint32_t takes = nodeset->ops->takes(nodeset, leaf, best->node, most);
        must(takes <= most);
        for (uint32_t i = 0; i < takes; i++) {
            nodeset->ops->take(nodeset, leaf, best->node, indices[placed++]);
        }
        best->takes = nodeset->spread && takes > 0 ? best->takes - 1 : 0;
        best->order = nodeset->ops->order(nodeset, leaf, best->node);
    }
    return placed;
}

/* The domain of the site at the level `scope.close`; 0: none. */
static uint32_t site_area(const struct site *site, struct scope scope)
{
    return site->node->domains[scope.close].v;
}

/* The part with most room first, then the part with the higher node. Nodes in no domain come last. */
static int area_order(const void *left, const void *right)
{
    const struct area *a = left;
    const struct area *b = right;
    if ((a->domain.v == 0) != (b->domain.v == 0)) {
        return a->domain.v == 0 ? 1 : -1;
    }
    if (a->room != b->room) {
        return a->room > b->room ? -1 : 1;
    }
    return a->node > b->node ? -1 : a->node < b->node;
}

static struct area *areas_of(struct nodeset *nodeset, struct scope scope, const struct site *sites,
                             uint32_t site_count, uint32_t *ret_count)
{
    must(scope.close != ARRANGE_LEVEL_NONE);
    struct area *areas = arena_new(nodeset->arena, struct area, site_count);
    uint32_t count = 0;
    for (uint32_t i = 0; i < site_count; i++) {
        const uint32_t domain = site_area(&sites[i], scope);
        uint32_t at = 0;
        while (at < count && areas[at].domain.v != domain) {
            at++;
        }
        if (at == count) {
            areas[count++] = (struct area){{domain}, sites[i].node->id.v, 0};
        }
        areas[at].room += sites[i].takes;
    }
    sort_items(areas, count, sizeof areas[0], area_order);
    *ret_count = count;
    return areas;
}

/* Places the instances of a leaf in few parts of the scope. Returns the number of placed instances. */
static uint32_t areas_fill(struct nodeset *nodeset, uint32_t leaf, struct scope scope,
                           struct site *sites, uint32_t site_count, const struct part *part)
{
    uint32_t area_count = 0;
    uint32_t placed = 0;
    const struct area *areas = areas_of(nodeset, scope, sites, site_count, &area_count);
    struct site *inside = arena_new(nodeset->arena, struct site, site_count);
    for (uint32_t i = 0; i < area_count && placed < part->count; i++) {
        uint32_t count = 0;
        for (uint32_t j = 0; j < site_count; j++) {
            if (site_area(&sites[j], scope) == areas[i].domain.v) {
                inside[count++] = sites[j];
            }
        }
        placed +=
            sites_fill(nodeset, leaf, inside, count, &part->indices[placed], part->count - placed);
        must(placed <= part->count);
    }
    return placed;
}

/* Places all instances of a leaf in a scope, or none. `*ret_some`: some of them had found a place. */
static bool scope_fill(struct arrange_search *search, uint32_t leaf, struct scope scope,
                       bool *ret_some)
{
    struct nodeset *nodeset = search->nodeset;
    const struct part *part = &search->parts[leaf];
    const uint32_t mark = nodeset->placed_count;
    uint32_t site_count = 0;
    struct site *sites = sites_of(search, leaf, scope, &site_count);
    const bool close = scope.close > scope.level && site_count > 0;
    const uint32_t placed =
        close ? areas_fill(nodeset, leaf, scope, sites, site_count, part)
              : sites_fill(nodeset, leaf, sites, site_count, part->indices, part->count);
    *ret_some = placed > 0;
    if (placed < part->count) {
        nodeset_back(nodeset, mark);
    }
    return placed == part->count;
}

bool arrange_leaf_place(struct arrange_search *search, uint32_t leaf, struct scope scope)
{
    struct nodeset *nodeset = search->nodeset;
    const struct part *part = &search->parts[leaf];
    bool some = false;
    must(part->count > 0);
    if (scope.domain.v == 0 && scope.close == ARRANGE_LEVEL_NONE &&
        nodeset->ops->anywhere != NULL) {
        return nodeset->ops->anywhere(nodeset, leaf, part->indices, part->count);
    }
    if (scope_fill(search, leaf, scope, &some)) {
        return true;
    }
    if (!some || nodeset->ops->even == NULL || !nodeset->ops->even(nodeset, part->count)) {
        return false;
    }
    /* The first nodes may have given an instance more cpu or memory than the other instances could spare: once more, with even parts. */
    const bool placed = scope_fill(search, leaf, scope, &some);
    (void)nodeset->ops->even(nodeset, 0);
    return placed;
}
