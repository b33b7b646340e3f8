/* wait_index.c - nodes in the order in which a holder waits for them.
 *
 * Each order has two sets of keys: `nodes` says what was found on a node, `best` has the nodes in order. The keys of `best` must sort
 * as candidate_compare() in reserve_choice.c does.
 *
 * Surprising: a learned end passes without any fact. So an order by learned ends has a third set, `lapse`: the moments at which ends
 * pass. An entry of `lapse` may be out of date; then a node is looked at again for nothing.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core/sched/keep/wait_index.h"

#include "base/mem.h"
#include "base/must.h"
#include "core/model/limits.h"
#include "core/model/node.h"
#include "core/sched/place/overlay.h"
#include "core/state/capacity.h"
#include "core/state/query.h"

enum {
    NOTED_MAX = 4096,   /* changes that are remembered; an order that missed one is filled again */
    ENDS_FRACTION = 28, /* bits of a fraction: any two fractions ends ÷ instances stay different */
    ENDS_MAX = 1 << 30,
};
_Static_assert((int64_t)TASK_INSTANCES_MAX *TASK_INSTANCES_MAX < (int64_t)1 << ENDS_FRACTION,
               "two fractions may become one key");

enum wait_kind { KIND_AGE, KIND_LIMITS, KIND_LEARNED };

struct wait_order {
    shape_id shape; /* 0: not in use */
    uint32_t count; /* instances of the holder */
    enum wait_kind kind;
    uint64_t used;       /* the number of the call that used the order last */
    uint64_t noted;      /* the order has all changes before this position */
    int64_t now_ms;      /* the moment of the last call */
    uint64_t total;      /* instances of the holder that find a place on all nodes together */
    struct oindex nodes; /* node, end, newest, ends and count */
    struct oindex best;  /* see best_key() */
    struct oindex
        lapse; /* moment, node: at that moment a learned end on the node passes, and the node's key changes */
};

struct wait_index {
    struct wait_order orders[WAIT_ORDERS_MAX];
    node_id noted[NOTED_MAX];   /* the last changed nodes: position p is in p % NOTED_MAX */
    uint64_t latest[NOTED_MAX]; /* at i: the last position of a node whose id % NOTED_MAX is i */
    uint64_t noted_end;         /* the position of the next change */
    uint64_t calls;             /* of wait_index_order() */
};

static void order_done(struct wait_order *order)
{
    oindex_done(&order->nodes);
    oindex_done(&order->best);
    oindex_done(&order->lapse);
}

static void order_init(struct wait_order *order)
{
    *order = (struct wait_order){0};
    oindex_init(&order->nodes);
    oindex_init(&order->best);
    oindex_init(&order->lapse);
}

struct wait_index *wait_index_new(void)
{
    struct wait_index *index = xcalloc(1, sizeof *index);
    for (unsigned i = 0; i < WAIT_ORDERS_MAX; i++) {
        order_init(&index->orders[i]);
    }
    return index;
}

void wait_index_free(struct wait_index *index)
{
    for (unsigned i = 0; index != NULL && i < WAIT_ORDERS_MAX; i++) {
        order_done(&index->orders[i]);
    }
    free(index);
}

void wait_index_note(struct wait_index *index, node_id node)
{
    index->latest[node.v % NOTED_MAX] = index->noted_end;
    index->noted[index->noted_end++ % NOTED_MAX] = node;
}

static void *part_make(void)
{
    return wait_index_new();
}

static void part_free(void *part)
{
    wait_index_free(part);
}

static void part_note(void *part, node_id node)
{
    wait_index_note(part, node);
}

struct wait_index *wait_index_of(struct capacity *capacity)
{
    static const struct capacity_part_ops ops = {part_make, part_free, part_note, true};
    return capacity_part(capacity, CAPACITY_WAITS, &ops);
}

/* Was the node at position `at` noted again at a later position? */
static bool noted_again(const struct wait_index *index, uint64_t at)
{
    const node_id node = index->noted[at % NOTED_MAX];
    const uint64_t latest = index->latest[node.v % NOTED_MAX];
    return latest > at && index->noted[latest % NOTED_MAX].v == node.v;
}

/* ---- keys ---- */

static struct okey node_key(const struct candidate *c)
{
    must(c->end_ms >= 0);
    must(c->newest_ms >= 0);
    return (struct okey){{c->node->id.v, (uint64_t)c->end_ms, (uint64_t)c->newest_ms,
                          (uint64_t)c->ends << 32 | c->count}};
}

/* By known ends the key is: end, newest start, ends for each instance, node. By age the key has no end. */
static struct okey best_key(const struct wait_order *order, struct okey node)
{
    const uint64_t ends = node.at[3] >> 32;
    const uint64_t count = (uint32_t)node.at[3];
    must(count > 0);
    must(ends < ENDS_MAX);
    const uint64_t each = (ends << ENDS_FRACTION) / count;
    return order->kind == KIND_AGE ? (struct okey){{node.at[2], each, node.at[0], 0}}
                                   : (struct okey){{node.at[1], node.at[2], each, node.at[0]}};
}

static bool node_find(const struct wait_order *order, uint32_t node, struct okey *ret)
{
    return oindex_from(&order->nodes, (struct okey){{node, 0, 0, 0}}, ret) && ret->at[0] == node;
}

/* ---- changes ---- */

static void node_drop(struct wait_order *order, node_id node)
{
    struct okey key;
    if (!node_find(order, node.v, &key)) {
        return;
    }
    must(oindex_remove(&order->nodes, key));
    must(oindex_remove(&order->best, best_key(order, key)));
    must(order->total >= (uint32_t)key.at[3]);
    order->total -= (uint32_t)key.at[3];
}

static void node_renew(struct wait_order *order, const struct reserve_choice *choice, node_id id)
{
    struct candidate found;
    const struct overlay *overlay = choice->overlay;
    const struct node *node = query_node(overlay->core, id);
    node_drop(order, id);
    if (node == NULL || node->pool.v != overlay->pool.v) {
        return;
    }
    ++*overlay->visited;
    if (reserve_candidate(choice, node, &found)) {
        const struct okey key = node_key(&found);
        must(oindex_insert(&order->nodes, key));
        must(oindex_insert(&order->best, best_key(order, key)));
        order->total += found.count;
    }
    if (order->kind == KIND_LEARNED && found.lapse_ms != INT64_MAX) {
        (void)oindex_insert(&order->lapse, (struct okey){{(uint64_t)found.lapse_ms, id.v, 0, 0}});
    }
}

static void lapsed_renew(struct wait_order *order, const struct reserve_choice *choice)
{
    struct okey key;
    while (oindex_from(&order->lapse, (struct okey){{0}}, &key) &&
           key.at[0] <= (uint64_t)choice->overlay->now_ms) {
        must(oindex_remove(&order->lapse, key));
        node_renew(order, choice, (node_id){(uint32_t)key.at[1]});
    }
}

static void order_renew(struct wait_index *index, struct wait_order *order,
                        const struct reserve_choice *choice)
{
    for (; order->noted < index->noted_end; order->noted++) {
        if (!noted_again(index, order->noted)) {
            node_renew(order, choice, index->noted[order->noted % NOTED_MAX]);
        }
    }
    lapsed_renew(order, choice);
    order->now_ms = choice->overlay->now_ms;
}

static void order_fill(struct wait_index *index, struct wait_order *order,
                       const struct reserve_choice *choice)
{
    const struct overlay *overlay = choice->overlay;
    node_id after = {0};
    const struct node *node;
    order->noted = index->noted_end;
    order->now_ms = overlay->now_ms;
    while ((node = query_pool_node_next(overlay->core, overlay->pool, after)) != NULL) {
        after = node->id;
        node_renew(order, choice, node->id);
    }
}

/* ---- asking ---- */

static enum wait_kind kind_of(const struct reserve_choice *choice)
{
    if (!choice->by_end) {
        return KIND_AGE;
    }
    return choice->holder->learned ? KIND_LEARNED : KIND_LIMITS;
}

/* The order for this choice; else the order that was not used for longest, emptied. */
static struct wait_order *order_find(struct wait_index *index, const struct reserve_choice *choice)
{
    struct wait_order *oldest = &index->orders[0];
    for (unsigned i = 0; i < WAIT_ORDERS_MAX; i++) {
        struct wait_order *order = &index->orders[i];
        if (order->shape.v == choice->holder->task->shape.v &&
            order->count == choice->holder->count && order->kind == kind_of(choice)) {
            return order;
        }
        oldest = order->used < oldest->used ? order : oldest;
    }
    order_done(oldest);
    order_init(oldest);
    return oldest;
}

const struct wait_order *wait_index_order(struct wait_index *index,
                                          const struct reserve_choice *choice)
{
    struct reserve_choice bare = *choice;
    struct wait_order *order = order_find(index, choice);
    bare.bare = true;
    /* An explanation may look at an earlier moment than the last pass. Learned ends that have passed since are known at that moment. */
    const bool back = order->kind == KIND_LEARNED && order->now_ms > choice->overlay->now_ms;
    if (order->shape.v != 0 && (index->noted_end - order->noted > NOTED_MAX || back)) {
        order_done(order);
        order_init(order);
    }
    order->used = ++index->calls;
    if (order->shape.v != 0) {
        order_renew(index, order, &bare);
        return order;
    }
    order->shape = choice->holder->task->shape;
    order->count = choice->holder->count;
    order->kind = kind_of(choice);
    order_fill(index, order, &bare);
    return order;
}

uint64_t wait_index_total(const struct wait_order *order)
{
    return order->total;
}

uint32_t wait_index_count(const struct wait_order *order, node_id node)
{
    struct okey key;
    return node_find(order, node.v, &key) ? (uint32_t)key.at[3] : 0;
}

bool wait_index_next(const struct wait_order *order, const struct core *core, struct okey *cursor,
                     struct candidate *ret)
{
    struct okey key;
    if (!oindex_next(&order->best, *cursor, cursor)) {
        return false;
    }
    must(node_find(order, (uint32_t)cursor->at[order->kind == KIND_AGE ? 2 : 3], &key));
    *ret = (struct candidate){
        .node = query_node(core, (node_id){(uint32_t)key.at[0]}),
        .end_ms = (int64_t)key.at[1],
        .newest_ms = (int64_t)key.at[2],
        .ends = (uint32_t)(key.at[3] >> 32),
        .count = (uint32_t)key.at[3],
        .lapse_ms = INT64_MAX,
    };
    return true;
}
