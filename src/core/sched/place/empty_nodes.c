/* empty_nodes.c - the nodeset of empty nodes. Only nodes that take an instance have a struct here.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core/sched/place/empty_nodes.h"

#include "base/hash.h"
#include "base/must.h"
#include "base/sort.h"
#include "core/model/fit.h"
#include "core/model/space.h"
#include "core/state/topology.h"

/* A node on which an instance was placed. */
struct empty_node {
    struct empty_node *next; /* in the same bucket */
    struct space place;
    struct space_room room;
};

/* One placement, for the way back. */
struct put {
    struct empty_node *empty_node;
    const struct request *request;
    struct grant grant;
};

enum { EMPTY_NODE_BUCKETS = 256 };

struct empty_nodes {
    struct nodeset nodeset;
    enum empty_nodes_of of;
    struct empty_node *nodes[EMPTY_NODE_BUCKETS];
    struct put *puts;       /* by the position in nodeset.placed */
    empty_nodes_age_fn age; /* NULL: nodes are taken by id */
    void *context;
};

static struct empty_nodes *empty_nodes_of(struct nodeset *nodeset)
{
    return (struct empty_nodes *)nodeset;
}

static struct empty_node *empty_node_find(const struct empty_nodes *empty_nodes, node_id node)
{
    struct empty_node *empty_node = empty_nodes->nodes[hash_u64(node.v) % EMPTY_NODE_BUCKETS];
    while (empty_node != NULL && empty_node->place.node->id.v != node.v) {
        empty_node = empty_node->next;
    }
    return empty_node;
}

/* Sets the space of the node as if nothing ran there. Devices out of service count only where nodes
 * that take no work count, too. */
static void empty_space(const struct empty_nodes *empty_nodes, const struct node *node,
                        struct space_room *room, struct space *ret)
{
    if (empty_nodes->of == EMPTY_NODES_USABLE) {
        space_empty(node, room, ret);
    } else {
        space_whole(node, room, ret);
    }
}

static uint32_t empty_nodes_takes(struct nodeset *nodeset, uint32_t leaf, const struct node *node,
                                  uint32_t max)
{
    const struct empty_nodes *empty_nodes = empty_nodes_of(nodeset);
    const struct empty_node *empty_node = empty_node_find(empty_nodes, node->id);
    struct space_room room;
    struct space empty;
    must(leaf < nodeset->form->group_count);
    if (empty_nodes->of == EMPTY_NODES_USABLE && !fit_usable(node)) {
        return 0;
    }
    if (empty_node == NULL) {
        empty_space(empty_nodes, node, &room, &empty);
    }
    return fit_count(empty_node == NULL ? &empty : &empty_node->place,
                     &nodeset->form->groups[leaf].request, max);
}

/* Without `age` the result is 0, so that nodes are taken by id. With `age` the result is the negative age. empty_nodes_by_age() also sets
 * `spread`, which takes the highest result first: the node with the lowest age. */
static int64_t empty_nodes_order(struct nodeset *nodeset, uint32_t leaf, const struct node *node)
{
    const struct empty_nodes *empty_nodes = empty_nodes_of(nodeset);
    const struct request *request = &nodeset->form->groups[leaf].request;
    return empty_nodes->age == NULL ? 0 : -empty_nodes->age(empty_nodes->context, request, node);
}

/* A node of a domain, and when the newest instance began that must end there. */
struct wait {
    int64_t age;
    uint32_t node;
    uint32_t takes;
};

static int wait_order(const void *left, const void *right)
{
    const struct wait *a = left;
    const struct wait *b = right;
    if (a->age != b->age) {
        return a->age < b->age ? -1 : 1;
    }
    return a->node < b->node ? -1 : a->node > b->node;
}

/* When the newest instance of the domain began that must end before `count` instances fit. The nodes with the oldest such instances are
 * used first. */
static uint64_t empty_nodes_rank(struct nodeset *nodeset, uint32_t leaf, domain_id domain,
                                 uint32_t count)
{
    const uint32_t size = topology_domain(nodeset->core, domain)->node_count;
    struct wait *waits = arena_new(nodeset->arena, struct wait, size);
    uint32_t wait_count = 0;
    uint32_t takes = 0;
    uint64_t newest = 0;
    node_id after = {0};
    const struct node *node;
    while ((node = topology_domain_node_next(nodeset->core, domain, after)) != NULL) {
        after = node->id;
        must(wait_count < size);
        waits[wait_count++] = (struct wait){-empty_nodes_order(nodeset, leaf, node), node->id.v,
                                            empty_nodes_takes(nodeset, leaf, node, count)};
    }
    sort_items(waits, wait_count, sizeof waits[0], wait_order);
    for (uint32_t i = 0; i < wait_count && takes < count; i++) {
        if (waits[i].takes > 0) {
            must(waits[i].age >= 0);
            takes += waits[i].takes;
            newest = (uint64_t)waits[i].age;
        }
    }
    return newest;
}

static void empty_nodes_take(struct nodeset *nodeset, uint32_t leaf, const struct node *node,
                             uint32_t index)
{
    struct empty_nodes *empty_nodes = empty_nodes_of(nodeset);
    struct empty_node *empty_node = empty_node_find(empty_nodes, node->id);
    if (empty_node == NULL) {
        struct empty_node **bucket = &empty_nodes->nodes[hash_u64(node->id.v) % EMPTY_NODE_BUCKETS];
        empty_node = arena_new(nodeset->arena, struct empty_node, 1);
        empty_node->next = *bucket;
        empty_space(empty_nodes, node, &empty_node->room, &empty_node->place);
        *bucket = empty_node;
    }
    must(nodeset->placed_count < nodeset->form->groups[0].count); /* the room of `puts` */
    struct put *put = &empty_nodes->puts[nodeset->placed_count];
    put->empty_node = empty_node;
    put->request = &nodeset->form->groups[leaf].request;
    fit_grant(&empty_node->place, put->request, &put->grant);
    space_take(&empty_node->place, &empty_node->room, put->request, &put->grant);
    nodeset_placed(nodeset, node, index);
}

static void empty_nodes_undo(struct nodeset *nodeset)
{
    struct empty_nodes *empty_nodes = empty_nodes_of(nodeset);
    (void)nodeset_taken_back(nodeset);
    const struct put *put = &empty_nodes->puts[nodeset->placed_count];
    space_give(&put->empty_node->place, &put->empty_node->room, put->request, &put->grant);
}

static const struct nodeset_ops empty_nodes_ops = {.takes = empty_nodes_takes,
                                                   .order = empty_nodes_order,
                                                   .take = empty_nodes_take,
                                                   .undo = empty_nodes_undo};
static const struct nodeset_ops empty_nodes_age_ops = {.takes = empty_nodes_takes,
                                                       .order = empty_nodes_order,
                                                       .take = empty_nodes_take,
                                                       .undo = empty_nodes_undo,
                                                       .rank = empty_nodes_rank};

struct nodeset *empty_nodes_new(const struct core *core, const struct pool *pool,
                                const struct form *form, const struct node **at,
                                enum empty_nodes_of of, struct arena *arena)
{
    must(form->group_count > 0);
    struct empty_nodes *empty_nodes = arena_new(arena, struct empty_nodes, 1);
    const uint32_t count = form->groups[0].count;
    empty_nodes->nodeset = (struct nodeset){
        .ops = &empty_nodes_ops,
        .core = core,
        .pool = pool,
        .form = form,
        .arena = arena,
        .at = at != NULL ? at : arena_new(arena, const struct node *, count),
        .placed = arena_new(arena, uint32_t, count),
    };
    empty_nodes->of = of;
    empty_nodes->puts = arena_new(arena, struct put, count);
    return &empty_nodes->nodeset;
}

void empty_nodes_by_age(struct nodeset *nodeset, empty_nodes_age_fn age, void *context)
{
    struct empty_nodes *empty_nodes = empty_nodes_of(nodeset);
    empty_nodes->age = age;
    empty_nodes->context = context;
    nodeset->ops = &empty_nodes_age_ops;
    nodeset->spread = true; /* one instance at a time: the node with the shortest wait first */
}
