/* membership.c - see membership.h.
 *
 *   labels of a node ─▶ ORDER_SELECTOR: pools whose first mark the node has ─▶ is the whole selector within the labels?
 *   selector of a pool ─▶ ORDER_LABEL_NODE: nodes that have its first mark
 *
 * A node whose pool is no longer the pool of its labels takes no more starts (node_takes_work). When the node is empty, its
 * move is due (DEADLINE_MOVE) and a tick moves it. A tick handles a bounded number of deadlines, so the move of many nodes
 * takes several ticks.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core/state/membership.h"

#include "base/arena.h"
#include "base/must.h"
#include "core/model/label.h"
#include "core/model/limits.h"
#include "core/model/spec.h"
#include "core/model/table.h"
#include "core/state/change.h"
#include "core/state/fact.h"
#include "core/state/key.h"
#include "core/state/query.h"
#include "core/state/state.h"
#include "core/state/topology.h"

#include <string.h>

static struct okey mark_key(struct label_mark mark, uint32_t id)
{
    return (struct okey){{mark.first, mark.second, id, 0}};
}

static bool same_mark(struct okey key, struct label_mark mark)
{
    return key.at[0] == mark.first && key.at[1] == mark.second;
}

/* ---- the pool of a node ---- */

/* The first pool behind `after` whose selector lies within the marks. Each selector stands under its first mark, so no pool
 * is found twice. */
static pool_id match_next(const struct core *core, const struct blob *marks, pool_id after)
{
    pool_id best = {0};
    for (uint32_t i = 0; i < label_marks_count(marks); i++) {
        const struct label_mark mark = label_marks_at(marks, i);
        struct okey key = mark_key(mark, after.v);
        while (oindex_next(&core->orders[ORDER_SELECTOR], key, &key) && same_mark(key, mark) &&
               (best.v == 0 || key.at[2] < best.v)) {
            const struct pool *pool = query_pool(core, (pool_id){(uint32_t)key.at[2]});
            must(pool != NULL);
            if (label_marks_within(pool->selector, marks)) {
                best = pool->id;
            }
        }
    }
    return best;
}

const struct pool *membership_pool(const struct core *core, const struct blob *marks,
                                   uint32_t *ret_matches)
{
    const pool_id first = match_next(core, marks, (pool_id){0});
    uint32_t count = 0;
    for (pool_id pool = first; pool.v != 0; pool = match_next(core, marks, pool)) {
        count++;
    }
    *ret_matches = count;
    return first.v != 0 ? query_pool(core, first) : query_pool_named(core, POOL_DEFAULT_NAME);
}

pool_id membership_match_next(const struct core *core, const struct node *node, pool_id after)
{
    return match_next(core, node->labels, after);
}

static bool follows(const struct node *node)
{
    return node->follows_labels && node->state != NODE_REMOVED;
}

static void pool_find(const struct core *core, struct node *node)
{
    uint32_t matches = 0;
    node->pool_next.v = 0;
    node->selector_matches = 0;
    if (!follows(node)) {
        return;
    }
    const struct pool *pool = membership_pool(core, node->labels, &matches);
    if (pool != NULL && pool->id.v != node->pool.v) {
        node->pool_next = pool->id;
    }
    node->selector_matches = (uint16_t)matches;
}

void membership_node_leave(struct core *core, struct node *node)
{
    for (uint32_t i = 0; follows(node) && i < label_marks_count(node->labels); i++) {
        must(oindex_remove(&core->orders[ORDER_LABEL_NODE],
                           mark_key(label_marks_at(node->labels, i), node->id.v)));
    }
}

void membership_node_join(struct core *core, struct node *node)
{
    for (uint32_t i = 0; follows(node) && i < label_marks_count(node->labels); i++) {
        must(oindex_insert(&core->orders[ORDER_LABEL_NODE],
                           mark_key(label_marks_at(node->labels, i), node->id.v)));
    }
    pool_find(core, node);
}

/* ---- orders of nodes ---- */

bool membership_may_move(const struct node *node)
{
    return node->pool_next.v != 0 && node->instance_count == 0;
}

struct okey membership_move_key(const struct node *node)
{
    return (struct okey){{0, DEADLINE_MOVE, node->id.v, 0}};
}

static bool contested(const struct node *node)
{
    return node->selector_matches > 1;
}

static pool_id pool_of(const struct node *node)
{
    return node->pool_next.v != 0 ? node->pool_next : node->pool;
}

static void contested_count(struct core *core, const struct node *node, bool more)
{
    struct oindex *order = &core->orders[ORDER_CONTESTED];
    const struct okey key = {{pool_of(node).v, node->id.v, 0, 0}};
    must(more ? oindex_insert(order, key) : oindex_remove(order, key));
    struct pool *pool = change_pool_edit(core, pool_of(node));
    must(more || pool->contested_count > 0);
    pool->contested_count += more ? 1 : UINT32_MAX;
}

void membership_node_close(struct core *core, const struct node *node, const struct node *before)
{
    struct oindex *order = &core->orders[ORDER_DEADLINE];
    const bool was = membership_may_move(before);
    const bool is = membership_may_move(node);
    if (was != is) {
        must(is ? oindex_insert(order, membership_move_key(node))
                : oindex_remove(order, membership_move_key(before)));
    }
    if (contested(node) == contested(before) && pool_of(node).v == pool_of(before).v) {
        return;
    }
    if (contested(before)) {
        contested_count(core, before, false);
    }
    if (contested(node)) {
        contested_count(core, node, true);
    }
}

const struct node *membership_contested_next(const struct core *core, pool_id pool, node_id after)
{
    struct okey key = {{pool.v, after.v, UINT64_MAX, UINT64_MAX}};
    if (!oindex_next(&core->orders[ORDER_CONTESTED], key, &key) || key.at[0] != pool.v) {
        return NULL;
    }
    return query_node(core, (node_id){(uint32_t)key.at[1]});
}

uint64_t membership_contested_count(const struct core *core)
{
    return oindex_count(&core->orders[ORDER_CONTESTED]);
}

/* ---- selectors ---- */

/* Finds the pools of the nodes anew that a selector matches. */
static void nodes_find(struct core *core, const struct blob *selector)
{
    if (selector == NULL) {
        return;
    }
    const struct label_mark mark = label_marks_at(selector, 0);
    struct okey key = mark_key(mark, 0);
    while (oindex_next(&core->orders[ORDER_LABEL_NODE], key, &key) && same_mark(key, mark)) {
        const node_id id = {(uint32_t)key.at[2]};
        struct node found = *query_node(core, id);
        pool_find(core, &found);
        const struct node *now = query_node(core, id);
        if (found.pool_next.v == now->pool_next.v &&
            found.selector_matches == now->selector_matches) {
            continue;
        }
        if (found.pool_next.v != 0) {
            change_claim_drop_node(core, id);
        }
        struct node before;
        struct node *node = change_node_open(core, id, &before);
        node->pool_next = found.pool_next;
        node->selector_matches = found.selector_matches;
        change_node_close(core, node, &before);
        change_pool_freed(core, node->pool); /* the node may take work again */
    }
}

void membership_pool_set(struct core *core, pool_id id, const struct pool_spec *spec)
{
    struct oindex *order = &core->orders[ORDER_SELECTOR];
    struct pool *pool = change_pool_edit(core, id);
    struct blob *old = pool->selector;
    const bool calls = spec != NULL && pool->life.phase != PHASE_DELETE;
    struct blob *new = calls && spec->selector_count > 0
                           ? label_marks_blob(spec->selector, spec->selector_count)
                           : NULL;
    if (label_marks_count(old) == label_marks_count(new) && label_marks_within(old, new)) {
        blob_unref(new);
        return;
    }
    must(old == NULL || oindex_remove(order, mark_key(label_marks_at(old, 0), id.v)));
    must(new == NULL || oindex_insert(order, mark_key(label_marks_at(new, 0), id.v)));
    pool->selector = new;
    nodes_find(core, old);
    nodes_find(core, new);
    blob_unref(old);
}

/* ---- the move ---- */

void membership_moved(struct core *core, const struct fact *fact)
{
    const node_id id = fact->node_moved.node;
    const pool_id from = query_node(core, id)->pool;
    struct arena arena;
    struct node_spec spec;
    arena_init(&arena);
    query_node_spec(core, id, &arena, &spec);
    spec.pool = query_pool_name(core, fact->node_moved.pool);
    struct node before;
    struct node *node = change_node_open(core, id, &before);
    must(node->state != NODE_REMOVED);
    must(fact->node_moved.pool.v == node->pool_next.v);
    change_node_move(core, node, fact->node_moved.pool);
    node->pool_next.v = 0;
    change_node_text_set(node, &spec);
    change_node_slots_set(core, node);
    change_node_recount(core, node);
    topology_node_set(core, node);
    change_node_close(core, node, &before);
    arena_done(&arena);
    change_pool_freed(core, node->pool);
    change_pool_due(core, from);
}
