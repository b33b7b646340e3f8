/* arrange.c - the search for places of a gang with a form.
 *
 * Surprising: of two domains that are equally full the search takes the domain with the lower node. Of two parts of a domain with equal
 * room the search takes the part with the higher node. The peers do the same. Ids of domains change with a restart, so no order uses
 * them.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core/sched/place/arrange.h"

#include "base/arena.h"
#include "base/must.h"
#include "base/sort.h"
#include "core/model/form.h"
#include "core/model/limits.h"
#include "core/model/node.h"
#include "core/sched/place/arrange_internal.h"
#include "core/sched/place/sequence.h"
#include "core/state/topology.h"

/* ARRANGE_TRIES_MAX bounds the attempts to fill a group, for all groups of a gang together. EVERY_ONE asks a node without a maximum. */
enum { ARRANGE_TRIES_MAX = 2000, EVERY_ONE = TASK_INSTANCES_MAX };

/* ---- domains ---- */

/* How many leaves at or below a group need places. */
static uint32_t parts_below(const struct arrange_search *search, uint32_t group)
{
    uint32_t count = 0;
    for (uint32_t i = group; i < search->nodeset->form->groups[group].end; i++) {
        count += search->parts[i].count > 0;
    }
    return count;
}

/* The leaf with the largest request among the leaves at or below a group that need places. */
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

/* Does each leaf at or below the group, placed alone, find enough room in the domain? */
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

/* The domain with the lowest rank first, then the domain with the lower node. */
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
    must(level < nodeset->pool->level_count);
    struct area *list =
        arena_new(nodeset->arena, struct area, arrange_leaf_scope_size(nodeset, scope));
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

/* Writes the children of a group that need places to `ret` in this sequence. Returns their number. */
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
        must(count < TASK_GROUPS_MAX); /* the room of `ret` */
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

/* Places all instances of a group in one scope, or none. */
static bool group_fill(struct arrange_search *search, uint32_t group, struct scope scope)
{
    struct nodeset *nodeset = search->nodeset;
    const uint32_t mark = nodeset->placed_count;
    must(group < nodeset->form->group_count);
    if (++search->tries > ARRANGE_TRIES_MAX) {
        search->exact = false;
        return false;
    }
    if (nodeset->form->groups[group].below == 0) {
        return arrange_leaf_place(search, group, scope);
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

/* The node of the group's first instance that has a place. The other instances must be in the same domain. NULL: none has a place. */
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
                                                                          : ARRANGE_LEVEL_NONE;
}

/* Places a group in one domain of the closest level that has room for the group, up to the level `widest`. */
static bool levels_try(struct arrange_search *search, uint32_t group, struct scope scope,
                       int32_t widest)
{
    struct nodeset *nodeset = search->nodeset;
    const struct form_group *own = &nodeset->form->groups[group];
    const int32_t required = level_of(nodeset, own->required);
    const int32_t closest = scope.close > required ? scope.close : required;
    const struct node *pin = group_pin(nodeset, group);
    must(closest < (int32_t)nodeset->pool->level_count);
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

/* Places a group and all groups below, or nothing. The recursion is as deep as the tree of groups, which form_link() bounds. */
static bool group_place(struct arrange_search *search, uint32_t group, struct scope scope)
{
    const struct nodeset *nodeset = search->nodeset;
    const struct form_group *own = &nodeset->form->groups[group];
    const int32_t required = level_of(nodeset, own->required);
    const int32_t preferred = level_of(nodeset, own->preferred);
    must((scope.level == ARRANGE_LEVEL_NONE) == (scope.domain.v == 0));
    if (own->required[0] != '\0' && required == ARRANGE_LEVEL_NONE) {
        return false; /* the pool's topology no longer has the level */
    }
    scope.close = preferred != ARRANGE_LEVEL_NONE ? preferred : scope.close;
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
    if (group_place(&search, 0, (struct scope){ARRANGE_LEVEL_NONE, {0}, ARRANGE_LEVEL_NONE})) {
        return ARRANGE_DONE;
    }
    return search.exact ? ARRANGE_NO_ROOM : ARRANGE_NOT_FOUND;
}

uint32_t arrange_closest(struct nodeset *nodeset, uint32_t group, const uint32_t *indices,
                         uint32_t count, domain_id *ret)
{
    must(group < nodeset->form->group_count);
    struct arrange_search search;
    const int32_t level = level_of(nodeset, nodeset->form->groups[group].required);
    uint64_t most = 0;
    uint32_t node = 0;
    search_init(&search, nodeset, indices, count);
    const uint32_t leaf = leaf_largest(&search, group);
    const struct node *pin = group_pin(nodeset, group);
    domain_id domain = {0};
    *ret = (domain_id){0};
    while (level != ARRANGE_LEVEL_NONE &&
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
