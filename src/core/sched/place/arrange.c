/* arrange.c - the search for places of a gang with a form.
 *
 * Surprising: of two domains that are equally full the one with the lower node is taken, but of two parts of it with equal room
 * the later one: as the peers do. Numbers of domains are given anew after a restart and decide nothing.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core/sched/place/arrange.h"

#include "base/arena.h"
#include "base/must.h"
#include "base/sort.h"
#include "core/model/form.h"
#include "core/model/limits.h"
#include "core/model/node.h"
#include "core/model/resource.h"
#include "core/sched/place/sequence.h"
#include "core/state/query.h"
#include "core/state/topology.h"

/* Domains and orders tried for one gang. */
enum { ARRANGE_TRIES_MAX = 2000, LEVEL_NONE = -1, EVERY_ONE = TASK_INSTANCES_MAX };

/* Where a group is to be. */
struct scope {
    int32_t level;
    domain_id domain; /* 0: anywhere in the pool */
    int32_t close;    /* the level on which few domains are to be used, or LEVEL_NONE */
};

/* The instances of one leaf that want a place. */
struct part {
    const uint32_t *indices;
    uint32_t count;
};

struct arrange_search {
    struct nodeset *nodeset;
    struct part parts[TASK_GROUPS_MAX + 1];
    uint32_t tries;
    bool exact; /* one leaf only: what is not found is not there */
};

/* A node that takes some. */
struct site {
    const struct node *node;
    uint32_t takes;
    int64_t order;
};

/* A domain, or what of a scope is in one of a closer level. */
struct area {
    domain_id domain;
    uint32_t node; /* the lowest */
    uint64_t room; /* for instances of the largest leaf, or what goes before that */
};

/* ---- nodes of a scope ---- */

static const struct node *scope_node(const struct nodeset *nodeset, struct scope scope,
                                     node_id after)
{
    return scope.domain.v == 0 ? query_pool_node_next(nodeset->core, nodeset->pool->id, after)
                               : topology_domain_node_next(nodeset->core, scope.domain, after);
}

static uint32_t scope_size(const struct nodeset *nodeset, struct scope scope)
{
    return scope.domain.v == 0 ? nodeset->pool->node_count
                               : topology_domain(nodeset->core, scope.domain)->node_count;
}

static struct site *sites_of(const struct arrange_search *search, uint32_t leaf, struct scope scope,
                             uint32_t *ret_count)
{
    struct nodeset *nodeset = search->nodeset;
    struct site *sites = arena_new(nodeset->arena, struct site, scope_size(nodeset, scope));
    uint32_t count = 0;
    const struct node *node = NULL;
    while ((node = scope_node(nodeset, scope, node == NULL ? (node_id){0} : node->id)) != NULL) {
        const uint32_t takes = nodeset->ops->takes(nodeset, leaf, node, search->parts[leaf].count);
        if (takes > 0) {
            sites[count++] = (struct site){node, takes, nodeset->ops->order(nodeset, leaf, node)};
        }
    }
    *ret_count = count;
    return sites;
}

/* ---- one leaf on some nodes ---- */

/* Packed: the fullest first, as without a topology. */
static bool packs_before(const struct site *a, const struct site *b)
{
    return a->order != b->order ? a->order < b->order : a->node->id.v < b->node->id.v;
}

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

/* As many of `count` instances as the sites take; returns how many. */
static uint32_t sites_fill(struct nodeset *nodeset, uint32_t leaf, struct site *sites,
                           uint32_t site_count, const uint32_t *indices, uint32_t count)
{
    uint32_t placed = 0;
    while (placed < count) {
        struct site *best = site_best(nodeset, sites, site_count);
        if (best == NULL) {
            return placed;
        }
        /* What one takes may bound what another one does: by what its accounts may have. */
        const uint32_t most = nodeset->spread ? 1 : count - placed;
        const uint32_t takes = nodeset->ops->takes(nodeset, leaf, best->node, most);
        for (uint32_t i = 0; i < takes; i++) {
            nodeset->ops->take(nodeset, leaf, best->node, indices[placed++]);
        }
        best->takes = nodeset->spread && takes > 0 ? best->takes - 1 : 0;
        best->order = nodeset->ops->order(nodeset, leaf, best->node);
    }
    return placed;
}

/* Which part of a scope the site is in. */
static uint32_t site_area(const struct site *site, struct scope scope)
{
    return site->node->domains[scope.close].v;
}

/* The most room first; of equal ones the later; nodes that are in none last. */
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

/* In as few parts of the scope as possible. */
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
    }
    return placed;
}

static bool leaf_place(struct arrange_search *search, uint32_t leaf, struct scope scope)
{
    struct nodeset *nodeset = search->nodeset;
    const struct part *part = &search->parts[leaf];
    const uint32_t mark = nodeset->placed_count;
    if (scope.domain.v == 0 && scope.close == LEVEL_NONE && nodeset->ops->anywhere != NULL) {
        return nodeset->ops->anywhere(nodeset, leaf, part->indices, part->count);
    }
    uint32_t site_count = 0;
    struct site *sites = sites_of(search, leaf, scope, &site_count);
    const bool close = scope.close > scope.level && site_count > 0;
    const uint32_t placed =
        close ? areas_fill(nodeset, leaf, scope, sites, site_count, part)
              : sites_fill(nodeset, leaf, sites, site_count, part->indices, part->count);
    if (placed < part->count) {
        nodeset_back(nodeset, mark);
    }
    return placed == part->count;
}

/* ---- domains ---- */

static uint32_t parts_below(const struct arrange_search *search, uint32_t group)
{
    uint32_t count = 0;
    for (uint32_t i = group; i < search->nodeset->form->groups[group].end; i++) {
        count += search->parts[i].count > 0;
    }
    return count;
}

/* The leaf with the largest request among those below a group that want places. */
static uint32_t leaf_largest(const struct arrange_search *search, uint32_t group)
{
    const struct form *form = search->nodeset->form;
    uint32_t best = form->group_count;
    for (uint32_t i = group; i < form->groups[group].end; i++) {
        if (search->parts[i].count > 0 &&
            (best == form->group_count ||
             sequence_larger(&form->groups[i].request, &form->groups[best].request))) {
            best = i;
        }
    }
    must(best < form->group_count);
    return best;
}

static uint64_t domain_room(struct nodeset *nodeset, domain_id domain, uint32_t leaf)
{
    uint64_t room = 0;
    const struct node *node = NULL;
    while ((node = topology_domain_node_next(nodeset->core, domain,
                                             node == NULL ? (node_id){0} : node->id)) != NULL) {
        room += nodeset->ops->takes(nodeset, leaf, node, EVERY_ONE);
    }
    return room;
}

/* Does every leaf, for itself, find room there? */
static bool domain_qualifies(const struct arrange_search *search, uint32_t group, domain_id domain)
{
    for (uint32_t i = group; i < search->nodeset->form->groups[group].end; i++) {
        if (search->parts[i].count > 0 &&
            domain_room(search->nodeset, domain, i) < search->parts[i].count) {
            return false;
        }
    }
    return true;
}

/* The fullest first; of equal ones that with the lowest node. */
static int domain_order(const void *left, const void *right)
{
    const struct area *a = left;
    const struct area *b = right;
    if (a->room != b->room) {
        return a->room < b->room ? -1 : 1;
    }
    return a->node < b->node ? -1 : a->node > b->node;
}

static struct area *domains_of(const struct arrange_search *search, uint32_t group,
                               struct scope scope, uint32_t level, uint32_t *ret_count)
{
    struct nodeset *nodeset = search->nodeset;
    const uint32_t leaf = leaf_largest(search, group);
    struct area *list = arena_new(nodeset->arena, struct area, scope_size(nodeset, scope));
    uint32_t count = 0;
    domain_id domain = {0};
    while ((domain =
                topology_domain_next(nodeset->core, nodeset->pool->id, level, scope.domain, domain))
               .v != 0) {
        if (domain_qualifies(search, group, domain)) {
            const node_id lowest =
                topology_domain_node_next(nodeset->core, domain, (node_id){0})->id;
            const uint64_t rank =
                nodeset->ops->rank != NULL
                    ? nodeset->ops->rank(nodeset, leaf, domain, search->parts[leaf].count)
                    : domain_room(nodeset, domain, leaf);
            list[count++] = (struct area){domain, lowest.v, rank};
        }
    }
    if (count > 1) {
        sort_items(list, count, sizeof list[0], domain_order);
    }
    *ret_count = count;
    return list;
}

/* ---- groups ---- */

static bool group_place(struct arrange_search *search, uint32_t group, struct scope scope);

/* The children of a group that want places, in this sequence. */
static uint32_t children_of(const struct arrange_search *search, uint32_t group,
                            enum sequence sequence, uint32_t *ret)
{
    const struct form *form = search->nodeset->form;
    uint32_t count = 0;
    for (uint32_t child = group + 1; child < form->groups[group].end;
         child = form->groups[child].end) {
        if (parts_below(search, child) == 0) {
            continue;
        }
        const struct request *own = &form->groups[leaf_largest(search, child)].request;
        uint32_t at = count++;
        for (; at > 0; at--) {
            const struct request *other = &form->groups[leaf_largest(search, ret[at - 1])].request;
            if (!sequence_before(sequence, own, other)) {
                break;
            }
            ret[at] = ret[at - 1];
        }
        ret[at] = child;
    }
    return count;
}

/* All that a group wants, in one scope. */
static bool group_fill(struct arrange_search *search, uint32_t group, struct scope scope)
{
    struct nodeset *nodeset = search->nodeset;
    const uint32_t mark = nodeset->placed_count;
    if (++search->tries > ARRANGE_TRIES_MAX) {
        search->exact = false;
        return false;
    }
    if (nodeset->form->groups[group].below == 0) {
        return leaf_place(search, group, scope);
    }
    const unsigned sequences = parts_below(search, group) > 1 ? SEQUENCE_COUNT : 1;
    for (unsigned sequence = 0; sequence < sequences; sequence++) {
        uint32_t children[TASK_GROUPS_MAX];
        const uint32_t count = children_of(search, group, (enum sequence)sequence, children);
        uint32_t done = 0;
        while (done < count && group_place(search, children[done], scope)) {
            done++;
        }
        if (done == count) {
            return true;
        }
        nodeset_back(nodeset, mark);
    }
    return false;
}

/* The node of one of a group that has its place: the others go there. */
static const struct node *group_pin(const struct nodeset *nodeset, uint32_t group)
{
    const struct form_group *own = &nodeset->form->groups[group];
    for (uint32_t i = own->first; i < own->first + own->count; i++) {
        if (nodeset->at[i] != NULL) {
            return nodeset->at[i];
        }
    }
    return NULL;
}

static int32_t level_of(const struct nodeset *nodeset, const char *name)
{
    uint32_t level;
    return name[0] != '\0' && topology_level(nodeset->pool, name, &level) ? (int32_t)level
                                                                          : LEVEL_NONE;
}

/* One level after the other, from the closest up to `widest`. */
static bool levels_try(struct arrange_search *search, uint32_t group, struct scope scope,
                       int32_t widest)
{
    struct nodeset *nodeset = search->nodeset;
    const struct form_group *own = &nodeset->form->groups[group];
    const int32_t required = level_of(nodeset, own->required);
    const int32_t closest = scope.close > required ? scope.close : required;
    const struct node *pin = group_pin(nodeset, group);
    for (int32_t level = closest; level >= widest && level > scope.level; level--) {
        if (pin != NULL) {
            const struct scope inside = {level, pin->domains[level], scope.close};
            if (inside.domain.v != 0 && group_fill(search, group, inside)) {
                return true;
            }
            continue;
        }
        uint32_t count = 0;
        const struct area *list = domains_of(search, group, scope, (uint32_t)level, &count);
        for (uint32_t i = 0; i < count; i++) {
            const struct scope inside = {level, list[i].domain, scope.close};
            if (group_fill(search, group, inside)) {
                return true;
            }
        }
    }
    return false;
}

/* Recursion is as deep as the tree of groups. */
static bool group_place(struct arrange_search *search, uint32_t group, struct scope scope)
{
    const struct nodeset *nodeset = search->nodeset;
    const struct form_group *own = &nodeset->form->groups[group];
    const int32_t required = level_of(nodeset, own->required);
    const int32_t preferred = level_of(nodeset, own->preferred);
    if (own->required[0] != '\0' && required == LEVEL_NONE) {
        return false; /* the pool has no such level any more */
    }
    scope.close = preferred != LEVEL_NONE ? preferred : scope.close;
    if (required > scope.level) {
        return levels_try(search, group, scope, required);
    }
    return (preferred > scope.level && levels_try(search, group, scope, 0)) ||
           group_fill(search, group, scope);
}

static void search_init(struct arrange_search *search, struct nodeset *nodeset,
                        const uint32_t *indices, uint32_t count)
{
    *search = (struct arrange_search){.nodeset = nodeset, .exact = true};
    for (uint32_t i = 0; i < count; i++) {
        const struct form_group *leaf = form_leaf(nodeset->form, indices[i]);
        struct part *part = &search->parts[leaf - nodeset->form->groups];
        part->indices = part->count == 0 ? &indices[i] : part->indices;
        part->count++;
        must(nodeset->at[indices[i]] == NULL);
    }
    search->exact = parts_below(search, 0) == 1;
}

enum arrange_result arrange(struct nodeset *nodeset, const uint32_t *indices, uint32_t count)
{
    struct arrange_search search;
    search_init(&search, nodeset, indices, count);
    if (group_place(&search, 0, (struct scope){LEVEL_NONE, {0}, LEVEL_NONE})) {
        return ARRANGE_DONE;
    }
    return search.exact ? ARRANGE_NO_ROOM : ARRANGE_NOT_FOUND;
}

uint32_t arrange_closest(struct nodeset *nodeset, uint32_t group, const uint32_t *indices,
                         uint32_t count, domain_id *ret)
{
    struct arrange_search search;
    const int32_t level = level_of(nodeset, nodeset->form->groups[group].required);
    uint64_t most = 0;
    uint32_t node = 0;
    search_init(&search, nodeset, indices, count);
    const uint32_t leaf = leaf_largest(&search, group);
    const struct node *pin = group_pin(nodeset, group);
    domain_id domain = {0};
    *ret = (domain_id){0};
    while (level != LEVEL_NONE &&
           (domain = topology_domain_next(nodeset->core, nodeset->pool->id, (uint32_t)level,
                                          (domain_id){0}, domain))
                   .v != 0) {
        const uint64_t room = domain_room(nodeset, domain, leaf);
        const uint32_t lowest =
            topology_domain_node_next(nodeset->core, domain, (node_id){0})->id.v;
        const bool allowed = pin == NULL || pin->domains[level].v == domain.v;
        if (allowed && (ret->v == 0 || room > most || (room == most && lowest < node))) {
            *ret = domain;
            most = room;
            node = lowest;
        }
    }
    return most < count ? (uint32_t)most : count;
}
